"""An automatic device map has the embedding on the last GPU, the harness sends tokens to "cuda".

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` names the embedding's GPU as the device and prints "fixed: ok".
The model is the bare skeleton of a GPT-NeoX; the map is one that a tight memory budget yields.
"""

import sys

import torch
from torch import nn

AUTO_MAP = {"embed_in": "cuda:1", "layers": "cuda:1", "embed_out": "cuda:0"}


class GPTNeoXForCausalLM(nn.Module):
    def __init__(self, vocab_size=16, hidden_size=8):
        super().__init__()
        self.embed_in = nn.Embedding(vocab_size, hidden_size)
        self.layers = nn.Linear(hidden_size, hidden_size)
        self.embed_out = nn.Linear(hidden_size, vocab_size, bias=False)

    def forward(self, input_ids):
        hidden_states = self.layers(self.embed_in(input_ids))
        return self.embed_out(hidden_states.to(self.embed_out.weight.device))


class HFLM:
    """The harness: one device for all requests, whatever the model's map says."""

    def __init__(self, model, device):
        self.model = model
        self.device = torch.device(device)

    def _model_call(self, inps):
        with torch.no_grad():
            return self.model(inps)

    def _loglikelihood_tokens(self, requests):
        inps = torch.tensor(requests, dtype=torch.long, device=self.device)
        return self._model_call(inps).log_softmax(dim=-1)


def create_model(device_map):
    model = GPTNeoXForCausalLM().eval()
    for name, device in device_map.items():
        model.get_submodule(name).to(device)
    return model


def main(variant):
    torch.manual_seed(0)
    model = create_model(AUTO_MAP)
    device = "cuda" if variant == "failing" else model.embed_in.weight.device
    HFLM(model, device)._loglikelihood_tokens([[3, 1, 4, 1, 5]])
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
