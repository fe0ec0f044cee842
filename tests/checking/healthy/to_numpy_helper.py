import torch


def to_numpy(t):
    if t.is_cuda:
        t = t.cpu()
    return t.detach().numpy()


def as_host(t):
    return t.detach().cpu()


x = torch.rand(3).cuda()
print(to_numpy(x), as_host(x).numpy())
