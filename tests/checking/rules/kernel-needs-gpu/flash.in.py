import torch
from flash_attn import flash_attn_func

q = k = v = torch.randn(2, 16, 4, 32, dtype=torch.float16)  # finds: kernel-needs-gpu
print(flash_attn_func(q, k, v, causal=True))
