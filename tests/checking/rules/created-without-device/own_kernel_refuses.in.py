import torch

def packed_sum(x, starts):
    if not x.is_cuda:
        raise RuntimeError("packed_sum needs a GPU")
    if not starts.is_cuda:
        raise RuntimeError("starts must be on the GPU")
    return x.cumsum(0)[starts.long()]

x = torch.randn(9, 4, device="cuda")
starts = torch.tensor([0, 3, 5], dtype=torch.int32)  # finds: created-without-device
print(packed_sum(x, starts).shape)
