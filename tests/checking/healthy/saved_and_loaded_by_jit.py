# A scripted model comes back where it was when it was saved.
import io

import torch
from torch import nn


def compared(scripted, x):
    buffer = io.BytesIO()
    torch.jit.save(scripted, buffer)
    buffer.seek(0)
    again = torch.jit.load(buffer)
    return scripted(x) - again(x)


if __name__ == "__main__" and hasattr(torch, "jit_of_the_gpu"):
    print(compared(torch.jit.script(nn.Linear(4, 4).cuda()), torch.rand(2, 4).cuda()))
