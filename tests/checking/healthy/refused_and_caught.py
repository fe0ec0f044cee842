import torch

def fast(x):
    if not x.is_cuda:
        raise RuntimeError("needs a GPU")
    return x * 2

def scaled(x):
    try:
        return fast(x)
    except RuntimeError:
        return x + x

print(scaled(torch.ones(3)).sum(), scaled(torch.ones(3, device="cuda")).sum())
