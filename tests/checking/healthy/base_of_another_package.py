import torch
from torch import nn
from transformers.modeling_layers import GradientCheckpointingLayer


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.distance = nn.Embedding(8, dim)

    def forward(self, hidden_states):
        positions = torch.arange(hidden_states.shape[1], device=hidden_states.device)
        return hidden_states + self.distance(positions)


class Block(GradientCheckpointingLayer):
    def __init__(self, dim):
        super().__init__()
        self.attention = Attention(dim)

    def forward(self, hidden_states):
        return self.attention(hidden_states)
