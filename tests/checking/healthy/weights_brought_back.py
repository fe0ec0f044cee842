import torch
from accelerate import cpu_offload, dispatch_model
from accelerate.hooks import remove_hook_from_module
from accelerate.utils import align_module_device
from torch import nn

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.other = nn.Linear(3, 3), nn.Linear(3, 3)
    def forward(self, x):
        return self.other(self.one(x))

pair = dispatch_model(Pair(), {"one": 0, "other": "cpu"})
x = torch.rand(2, 3, device="cuda:0")
print(pair(x), pair.one.weight.to(x.device).sum(), pair.other.weight.shape)
with align_module_device(pair.other, execution_device="cuda:0"):
    print(pair.other.weight.to("cuda:0") @ x.T)
whole = cpu_offload(Pair(), "cuda:0")
print(whole(x))
remove_hook_from_module(whole, recurse=True)
print(whole.to("cuda:0").one.weight.cpu())
