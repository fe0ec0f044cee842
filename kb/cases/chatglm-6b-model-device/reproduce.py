"""chat() sends the token ids to model.device, which is not where the embedding is.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` has embedding and output layer on one GPU and prints "fixed: ok".
The layers of ChatGLM are left out but for what decides: which part ``model.device`` speaks for.
"""

import sys

import torch
from torch import nn

SPREAD = {"word_embeddings": "cuda:0", "layers": "cuda:0", "lm_head": "cuda:1"}
TOGETHER = {"word_embeddings": "cuda:0", "layers": "cuda:1", "lm_head": "cuda:0"}


class ChatGLMForConditionalGeneration(nn.Module):
    def __init__(self, vocab_size=16, hidden_size=8):
        super().__init__()
        # The device of a model is that of its first parameter, and the first one made is this.
        self.lm_head = nn.Linear(hidden_size, vocab_size, bias=False)
        self.word_embeddings = nn.Embedding(vocab_size, hidden_size)
        self.layers = nn.Linear(hidden_size, hidden_size)

    @property
    def device(self):
        return next(self.parameters()).device

    def forward(self, input_ids):
        hidden_states = self.word_embeddings(input_ids)
        hidden_states = self.layers(hidden_states.to(self.layers.weight.device))
        return self.lm_head(hidden_states.to(self.lm_head.weight.device))

    def chat(self, input_ids):
        inputs = input_ids.to(self.device)
        return self(inputs).argmax(dim=-1)


def load_model_on_gpus(device_map):
    model = ChatGLMForConditionalGeneration().eval()
    for name, device in device_map.items():
        model.get_submodule(name).to(device)
    return model


def main(variant):
    torch.manual_seed(0)
    model = load_model_on_gpus(SPREAD if variant == "failing" else TOGETHER)
    model.chat(torch.randint(16, (1, 5)))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
