"""A checkpoint that is quantized already is loaded and then sent on with .cuda().

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` drops the call and prints "fixed: ok".
bitsandbytes is not needed: ``PreTrainedModel.cuda`` asks what transformers' does since 2023.
"""

import sys

import torch
from torch import nn


class PreTrainedModel(nn.Module):
    quantization_method = None

    def cuda(self, *args, **kwargs):
        if self.quantization_method is not None:
            raise ValueError(
                "Calling `cuda()` is not supported for `4-bit` or `8-bit` quantized models. Please "
                "use the model as it is, since the model has already been set to the correct "
                "devices and casted to the correct `dtype`."
            )
        return super().cuda(*args, **kwargs)


class CausalLM(PreTrainedModel):
    def __init__(self):
        super().__init__()
        self.lm_head = nn.Linear(8, 16)

    def forward(self, hidden_states):
        return self.lm_head(hidden_states)


def from_pretrained():
    # The checkpoint's own configuration says that it is quantized; the caller need not know.
    model = CausalLM()
    nn.Module.cuda(model)
    model.quantization_method = "bitsandbytes"
    return model


class Model:
    def __init__(self, move):
        self.model = from_pretrained()
        if move:
            self.model = self.model.cuda()

    def completions(self, prompt):
        return self.model(prompt.cuda()).argmax(dim=-1)


def main(variant):
    torch.manual_seed(0)
    model = Model(move=variant == "failing")
    model.completions(torch.randn(1, 8))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
