import torch
import xformers.ops as xops

def attend(q, k, v):
    return xops.memory_efficient_attention(q, k, v)

def main(batch=2):
    q = torch.rand(batch, 10, 4, 16).cuda()
    k = torch.rand(batch, 10, 4, 16).cuda()
    v = torch.rand(batch, 10, 4, 16)  # finds: kernel-needs-gpu
    print(attend(q, k, v).shape)

main()
