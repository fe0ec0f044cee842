# A layer is made empty, its weights are put in, and then it moves.
import torch
from torch import nn

weight = torch.rand(4, 3)
with torch.device("meta"):
    layer = nn.Linear(3, 4)
layer.weight = nn.Parameter(weight.half().float())
layer.bias = nn.Parameter(torch.zeros(4))
layer = layer.to("cuda")
print(layer(torch.rand(2, 3, device="cuda")).shape)
