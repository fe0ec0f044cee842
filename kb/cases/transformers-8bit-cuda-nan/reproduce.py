"""An 8-bit model is moved with .cuda(): its weights are quantized again and the answers are garbage.

Needs torch and one GPU. Nothing is raised by the move, so ``python reproduce.py failing`` compares
the answers before and after it and ends in an AssertionError; ``python reproduce.py fixed`` leaves
the model where loading put it and prints "fixed: ok". ``Int8Params.cuda`` does what bitsandbytes'
did: it quantizes what it is given and knows nothing of an earlier time.
"""

import sys

import torch
from torch import nn
from torch.nn import functional as F


class Int8Params:
    def __init__(self, data):
        self.data, self.scale = data, None

    def cuda(self):
        values = self.data.float().cuda()
        self.scale = values.abs().amax(dim=1, keepdim=True) / 127
        self.data = torch.round(values / self.scale).to(torch.int8)
        return self


class Linear8bitLt(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = Int8Params(torch.randn(out_features, in_features))

    def cuda(self, device=None):
        self.weight.cuda()
        return super().cuda(device)

    def forward(self, x):
        return F.linear(x, self.weight.data.float() * self.weight.scale)


def from_pretrained():
    return Linear8bitLt(8, 4).cuda()  # load_in_8bit=True, device_map="auto"


def main(variant):
    torch.manual_seed(0)
    model = from_pretrained()
    hidden_states = torch.randn(2, 8, device="cuda")
    expected = model(hidden_states)
    if variant == "failing":
        model.cuda()
    logits = model(hidden_states)
    assert torch.allclose(logits, expected), (
        "model.cuda() raised nothing, but the 8-bit weights were quantized a second time and the "
        "logits changed"
    )
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
