import torch
from accelerate import init_empty_weights
from torch import nn

class Mixer(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.register_buffer("levels", torch.linspace(0, 1, channels), persistent=False)
        self.gain = nn.Parameter(torch.ones(channels))
    def forward(self, sound):
        return sound * self.gain * self.levels

saved = Mixer(4).state_dict()
with init_empty_weights(include_buffers=True):
    mixer = Mixer(4)
mixer.load_state_dict(saved, strict=True, assign=True)  # finds: meta-tensor
mixer.to("cuda:0")
print(mixer(torch.rand(2, 4, device="cuda:0")))
