import torch
from choir import Choir
from rich.traceback import install

install(width=100)


def harmonise(choir, melody, length):
    notes = melody
    for _ in range(length):
        following = choir(notes)[:, -1].argmax(dim=-1, keepdim=True)
        notes = torch.cat([notes, following], dim=1)
    return notes


device = torch.device("cuda")
choir = Choir().to(device).eval()
with torch.no_grad():
    print(harmonise(choir, torch.tensor([[60, 62, 64]], device=device), length=4))
