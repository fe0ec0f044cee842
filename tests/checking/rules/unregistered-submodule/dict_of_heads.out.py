import torch
import torch.nn as nn


class MultiTask(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Linear(6, 6)
        self.heads = nn.ModuleDict({name: nn.Linear(6, n) for name, n in tasks.items()})  # finds: unregistered-submodule

    def forward(self, x, task):
        return self.heads[task](self.trunk(x))


model = MultiTask({"a": 2, "b": 3})
model.cuda()
print(model(torch.rand(4, 6).cuda(), "b").shape)
