# spot: self.layers = make(), make()
"""Layers of a library."""

from library import Base, make


class Stack(Base):
    def __init__(self):
        super().__init__()
        self.layers = make(), make()
