import torch
from texts.model import Translator

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Translator(words=10, size=8, device=device).to(device)
edges = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
print(model(torch.tensor([1, 4, 2, 7]), edges).shape)
