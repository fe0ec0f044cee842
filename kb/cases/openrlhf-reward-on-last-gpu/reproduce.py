"""The value head is on the last GPU, the positions that are gathered come from the mask on the first.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the positions to the values and prints "fixed: ok".
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn


class RewardModel(nn.Module):
    def __init__(self, vocab_size=32, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.layers = nn.Sequential(nn.Linear(width, width), nn.Tanh())
        self.value_head = nn.Linear(width, 1, bias=False)
        self.index_follows_values = False

    def forward(self, input_ids, attention_mask):
        values = self.value_head(self.layers(self.embed_tokens(input_ids))).squeeze(-1)
        last_token = attention_mask.sum(dim=1, keepdim=True) - 1
        if self.index_follows_values:
            last_token = last_token.to(values.device)
        return torch.gather(values, 1, last_token).flatten()


class RewardModelProxy:
    """Serves /get_reward: batches of token ids come in, one number for each goes out."""

    def __init__(self, device_map, variant):
        self.model = dispatch_model(RewardModel().eval(), device_map=device_map)
        self.model.index_follows_values = variant == "fixed"

    @torch.no_grad()
    def get_reward(self, queries):
        length = max(map(len, queries))
        input_ids = torch.tensor([q + [0] * (length - len(q)) for q in queries])
        mask = torch.tensor([[1] * len(q) + [0] * (length - len(q)) for q in queries])
        return self.model(input_ids.to("cuda:0"), mask.to("cuda:0")).tolist()


def main(variant):
    torch.manual_seed(0)
    proxy = RewardModelProxy({"embed_tokens": 0, "layers": 0, "value_head": 1}, variant)
    print(proxy.get_reward([[5, 6, 7], [5, 6, 7, 8, 9]]))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
