import torch
import bitsandbytes as bnb

def compress(ema, rows):
    shadow = torch.zeros(rows, 32)  # finds: kernel-needs-gpu
    for one in ema:
        shadow += one.cpu()
    return bnb.functional.quantize_blockwise(shadow)

print(compress([torch.rand(8, 32, device="cuda") for _ in range(3)], 8))
