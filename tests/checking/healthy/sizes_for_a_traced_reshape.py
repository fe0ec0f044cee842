import torch
from torch import nn


class Projection(nn.Module):
    def __init__(self, width, words):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(words, width))

    def forward(self, x):
        sizes = torch.onnx.operators.shape_as_tensor(x)
        flat = torch.onnx.operators.reshape_from_tensor_shape(
            x,
            torch.cat((torch.LongTensor([-1]), sizes[2].view(1))),
        )
        return torch.matmul(self.weight, flat.t()).t()


print(Projection(8, 5).cuda()(torch.randn(2, 3, 8, device="cuda")).shape)
