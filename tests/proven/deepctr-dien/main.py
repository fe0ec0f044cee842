import torch
from clicks.model import Clicks

device = "cuda:0" if torch.cuda.is_available() else "cpu"
model = Clicks(items=20, size=8, device=device)
history = torch.randint(1, 20, (6, 5))
lengths = torch.tensor([5, 0, 2, 3, 1, 4])
print(model.fit(history, lengths, torch.randint(2, (6,)).float()))
