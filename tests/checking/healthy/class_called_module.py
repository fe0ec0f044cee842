# A class whose name ends like a module's is none where its source says so.
import torch


class EditableModule:
    def names(self):
        return []


class Operator(EditableModule):
    def __init__(self, shape):
        self.matrix = torch.rand(shape)

    def forward(self, x):
        return self.matrix @ x.reshape(-1)


print(Operator((2, 2)).matrix.shape)
