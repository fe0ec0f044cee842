import torch
from trees.encoder import Encoder

device = "cuda" if torch.cuda.is_available() else "cpu"
encoder = Encoder(size=16, max_len=10).to(device)
for length in (6, 14):
    print(encoder(torch.randn(2, length, 8).to(device)).shape)
