"""An exporter turns every weight into a NumPy array, and the weights are on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` copies each to the cpu first and prints "fixed: ok".
"""

import io
import struct
import sys

import numpy as np
import torch
from torch import nn


def write_string(out, text):
    data = text.encode()
    out.write(struct.pack("i", len(data)) + data)


def quantize_int8(weights):
    low, high = weights.min(axis=1, keepdims=True), weights.max(axis=1, keepdims=True)
    scale = np.maximum((high - low) / 255, 1e-8)
    return np.round((weights - low) / scale).astype(np.uint8)


def tofile(out, model, dtype, variant):
    weights = model.state_dict()
    out.write(struct.pack("i", len(weights)))
    for key in weights:
        tensor = weights[key].cpu() if variant == "fixed" else weights[key]
        array = tensor.numpy().astype(np.float32)
        write_string(out, key)
        out.write(struct.pack(f"{array.ndim + 1}i", array.ndim, *array.shape))
        out.write(
            (quantize_int8(array) if dtype == "int8" and array.ndim == 2 else array).tobytes()
        )


class Baichuan(nn.Module):
    def __init__(self, vocab_size=32, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.W_pack = nn.Linear(width, 3 * width, bias=False)
        self.norm = nn.LayerNorm(width)


def main(variant):
    torch.manual_seed(0)
    model = Baichuan().eval().to("cuda:0")  # as a loader with a device map leaves it
    out = io.BytesIO()
    tofile(out, model, "int8", variant)
    print(len(out.getvalue()), "bytes")
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
