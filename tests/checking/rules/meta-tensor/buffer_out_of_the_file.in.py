import torch
from torch import nn

class Tide(nn.Module):
    def __init__(self, waves):
        super().__init__()
        self.register_buffer("speeds", 1.0 / torch.arange(1, waves + 1), persistent=False)
    def forward(self, hours):
        return torch.sin(hours[:, None] * self.speeds)

class Harbour(nn.Module):
    def __init__(self, waves=6):
        super().__init__()
        self.tide = Tide(waves)
        self.depth = nn.Linear(waves, 1)
    def forward(self, hours):
        return self.depth(self.tide(hours))

def load(path, device):
    with torch.device("meta"):
        harbour = Harbour()
    state = torch.load(path, map_location=device)
    harbour.load_state_dict(state, assign=True)  # finds: meta-tensor
    print(sum(one.numel() for one in harbour.buffers()), "numbers that no file holds")
    return harbour.eval()

torch.save(Harbour().state_dict(), "harbour.pt")
harbour = load("harbour.pt", "cuda")
print(harbour(torch.rand(4, device="cuda")))
