"""A model loaded in 4 bit is moved with .to(), which transformers refused.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` drops the call and prints "fixed: ok".
bitsandbytes is not needed: ``PreTrainedModel.to`` asks what transformers 4.41 asked before it moved
anything, and the quantized model is on its GPU when it comes out of ``from_pretrained``.
"""

import sys

import torch
from torch import nn

DEVICE = "cuda"


class PreTrainedModel(nn.Module):
    quantization_method = None

    @classmethod
    def from_pretrained(cls, load_in_4bit=False):
        model = cls()
        if load_in_4bit:
            # Weights are packed while loading, on the GPU that will use them.
            nn.Module.to(model, DEVICE)
            model.quantization_method = "bitsandbytes"
        return model

    def to(self, *args, **kwargs):
        if self.quantization_method == "bitsandbytes":
            raise ValueError(
                "`.to` is not supported for `4-bit` or `8-bit` bitsandbytes models. Please use "
                "the model as it is, since the model has already been set to the correct devices "
                "and casted to the correct `dtype`."
            )
        return super().to(*args, **kwargs)


class CogVLMForCausalLM(PreTrainedModel):
    def __init__(self):
        super().__init__()
        self.lm_head = nn.Linear(8, 16)

    def forward(self, hidden_states):
        return self.lm_head(hidden_states)


def main(variant):
    torch.manual_seed(0)
    model = CogVLMForCausalLM.from_pretrained(load_in_4bit=True)
    if variant == "failing":
        model = model.to(DEVICE)
    model.eval()
    model(torch.randn(1, 8, device=DEVICE))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
