# A base of another package keeps what it is handed, and moves it.
import torch
from torch import nn
from transformers.modular import ModularModel


class Graph(ModularModel):
    def __init__(self, width):
        self.parts = self.build_parts(width)
        super().__init__(self.parts)

    def build_parts(self, width):
        return {"body": nn.Linear(width, width), "head": nn.Linear(width, 2)}

    def loss(self, x):
        return self.parts["head"](self.parts["body"](x.to("cuda"))).sum()
