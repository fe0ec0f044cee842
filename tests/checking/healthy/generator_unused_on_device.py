import torch

torch.manual_seed(0)
g = torch.Generator()
state = g.get_state()
x = torch.randn(3, device="cuda")
g.set_state(state)
print(x, torch.rand(2, generator=g))
