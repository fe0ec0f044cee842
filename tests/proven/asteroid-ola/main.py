import torch
from pieces.net import Separator
from pieces.overlap import OverlapAdd

device = "cuda" if torch.cuda.is_available() else "cpu"
net = Separator(sources=2).to(device)
continuous = OverlapAdd(net, sources=2, window_size=16, window="hann")
wave = torch.randn(1, 1, 100)
print(continuous(wave.to(device)).shape)
