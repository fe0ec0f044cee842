import torch
from separation.padded import PaddedEncoder, Separator

device = "cuda" if torch.cuda.is_available() else "cpu"
model = Separator(PaddedEncoder(channels=8, kernel=4, depth=2), sources=2).to(device)
mixture = torch.randn(1, 1, 37).to(device)
print(model(mixture).shape)
