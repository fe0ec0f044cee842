from torch import nn
from transformers.modeling_layers import GradientCheckpointingLayer


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Linear(dim, dim)

    def forward(self, hidden_states):
        return self.query(hidden_states) + hidden_states.mean(-1, keepdim=True)


class Block(GradientCheckpointingLayer):
    def __init__(self, dim):
        super().__init__()
        self.attention = Attention(dim)

    def forward(self, hidden_states):
        return hidden_states.view(-1, 8) + self.attention(hidden_states).view(-1, 8)


class Model(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.blocks = nn.ModuleList([Block(dim) for _ in range(2)])

    def forward(self, hidden_states):
        for block in self.blocks:
            hidden_states = block(hidden_states)
        return hidden_states
