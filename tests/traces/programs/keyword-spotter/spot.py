import torch
from streaming import StreamingConv
from torch import nn

BATCH = 6

layers = [StreamingConv(10, 5) for _ in range(2)]
spotter = nn.Sequential(*layers).to("cuda")
for layer in layers:
    layer.start(BATCH, "cuda")
spotter = nn.DataParallel(spotter)
with torch.no_grad():
    for _ in range(3):
        chunk = torch.randn(BATCH, 10, 20, device="cuda")
        print(spotter(chunk).shape)
