from torch import nn


class RelightPatch(nn.Module):
    """Adds the direction of light to what a block of the picture model sees."""

    def __init__(self, width):
        super().__init__()
        self.direction = nn.Linear(3, width)

    def forward(self, hidden_states, light):
        return hidden_states + self.direction(light)


class RelightNode:
    """The node that users put between the model loader and the sampler."""

    def __init__(self, width):
        self.patch = RelightPatch(width)

    def apply(self, hidden_states, light):
        return self.patch(hidden_states, light)
