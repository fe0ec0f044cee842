# NumPy asks a tensor for its shape, and reads nothing of it.
import numpy as np
import torch
from torch import nn

model = nn.Linear(4, 2).to("cuda:0")
state = model.state_dict()
same = [name for name, held in state.items() if np.shape(held) == np.shape(state[name]) and np.ndim(held)]
print(same)


def rows_of(x):
    from torch.onnx import operators

    count = operators.shape_as_tensor(x.to("cuda"))[0].unsqueeze(0)
    return torch.min(torch.cat([torch.tensor([3]), count], 0))


print(rows_of(torch.rand(2, 2)))
