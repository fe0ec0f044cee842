# devices: cuda:0,cpu
# causes: checkpoint-location
import torch
from safetensors.torch import load_file
from transformers import AutoModel

model = AutoModel.from_pretrained("x").to("cuda")
extra = load_file("steering.safetensors")  # here
def hook(m, inp, out):
    return out[0] + extra["v"], *out[1:]  # fails
model.encoder.layer[3].register_forward_hook(hook)
model(torch.ones(1, 3, dtype=torch.long, device="cuda"))
