import torch

rng = torch.Generator(device="cuda")  # finds: generator-device
rng.manual_seed(42)
x = torch.rand(10, 2).cuda()
order = torch.randperm(len(x), generator=rng, device=x.device)
print(x[order])
