# spot: self.layers = make(), make()
"""Layers of a library."""

from library import Base, make
import torch


class Stack(Base):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList((make(), make()))
