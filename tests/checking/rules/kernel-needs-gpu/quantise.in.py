import torch
import bitsandbytes.functional as F
weight = torch.randn(64, 64)  # finds: kernel-needs-gpu
packed, state = F.quantize_4bit(weight, quant_type="nf4")
print(packed.shape)
