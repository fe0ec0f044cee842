"""Token ids go to "cuda", which is cuda:0, while the model's embedding is on the last GPU.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` sends them to model.device and prints "fixed: ok".
The decoder is a single layer here, and ``device_map="auto"`` is written out as its outcome.
"""

import sys

import torch
from torch import nn


class Gemma2ForCausalLM(nn.Module):
    def __init__(self, vocab_size=16, hidden_size=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, hidden_size)
        self.layers = nn.Linear(hidden_size, hidden_size)
        self.lm_head = nn.Linear(hidden_size, vocab_size, bias=False)

    @property
    def device(self):
        return next(self.parameters()).device

    @classmethod
    def from_pretrained(cls, device_map):
        model = cls().eval()
        for name, device in device_map.items():
            model.get_submodule(name).to(device)
        model.lm_head.weight = model.embed_tokens.weight
        return model

    def forward(self, input_ids):
        hidden_states = self.layers(self.embed_tokens(input_ids))
        return self.lm_head(hidden_states.to(self.lm_head.weight.device))


def main(variant):
    torch.manual_seed(0)
    last_gpu = f"cuda:{torch.cuda.device_count() - 1}"
    auto = {"embed_tokens": last_gpu, "layers": last_gpu}
    model = Gemma2ForCausalLM.from_pretrained(auto)
    input_ids = torch.randint(16, (1, 5))
    input_ids = input_ids.to("cuda" if variant == "failing" else model.device)
    model(input_ids)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
