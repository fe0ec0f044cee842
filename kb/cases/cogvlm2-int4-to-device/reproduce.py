"""A model loaded by bitsandbytes is moved with .to(), which transformers refuses.

Needs torch, transformers and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` drops the call and prints "fixed: ok".
bitsandbytes is not needed: ``from_pretrained`` leaves a tiny random Llama on its GPU and marks it as
the quantizer does. The mark says 8 bit, for transformers refuses nothing else since bitsandbytes
0.43.2; the release of the incident refused 4 bit in the same words.
"""

import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.utils.quantization_config import QuantizationMethod

DEVICE = "cuda"


def from_pretrained():
    config = LlamaConfig(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    model = LlamaForCausalLM(config)
    # Weights are packed while loading, on the GPU that will use them.
    nn.Module.to(model, DEVICE)
    model.quantization_method = QuantizationMethod.BITS_AND_BYTES
    model.is_loaded_in_8bit = True
    return model


def main(variant):
    torch.manual_seed(0)
    model = from_pretrained()
    if variant == "failing":
        model = model.to(DEVICE)
    model.eval()
    with torch.no_grad():
        model(input_ids=torch.randint(32, (1, 5), device=DEVICE))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
