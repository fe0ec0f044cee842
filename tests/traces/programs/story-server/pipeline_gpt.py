import torch
from torch import nn


class Stage(nn.Module):
    """Some consecutive blocks of the model, on one GPU."""

    def __init__(self, blocks, device):
        super().__init__()
        self.blocks, self.device = nn.Sequential(*blocks).to(device), device

    def forward(self, hidden_states):
        return self.blocks(hidden_states.to(self.device))


class PipelineGPT(nn.Module):
    """A language model cut into stages; GPU 0 also holds the retriever, so it gets the last one."""

    def __init__(self, vocabulary=256, width=32, layers=6, devices=("cuda:1", "cuda:0")):
        super().__init__()
        blocks = [
            nn.TransformerEncoderLayer(width, 4, 64, batch_first=True, dropout=0.0)
            for _ in range(layers)
        ]
        share = layers // len(devices)
        self.embed_tokens = nn.Embedding(vocabulary, width).to(devices[0])
        self.stages = nn.ModuleList(
            Stage(blocks[n * share : (n + 1) * share], device) for n, device in enumerate(devices)
        )
        self.lm_head = nn.Linear(width, vocabulary).to(devices[-1])

    def forward(self, input_ids):
        hidden_states = self.embed_tokens(input_ids)
        for stage in self.stages:
            hidden_states = stage(hidden_states)
        return self.lm_head(hidden_states)

    @torch.inference_mode()
    def generate(self, input_ids, max_new_tokens):
        for _ in range(max_new_tokens):
            logits = self(input_ids)[:, -1]
            following = logits.argmax(dim=-1, keepdim=True)
            input_ids = torch.cat([input_ids, following.to(input_ids.device)], dim=1)
        return input_ids
