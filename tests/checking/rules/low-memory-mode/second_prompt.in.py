import torch
from torch import nn

class Studio:
    def __init__(self, low_vram):
        self.low_vram = low_vram
        self.words = nn.Embedding(50, 8).to("cuda")
        self.paint = nn.Linear(8, 12).to("cuda")

    def encode(self, ids):
        out = self.words(ids.to("cuda")).mean(1)
        if self.low_vram:
            self.words.to("cpu")  # finds: low-memory-mode
        return out

    def __call__(self, ids, unwanted):
        yes = self.encode(ids)
        no = self.encode(unwanted)
        return self.paint(yes) - self.paint(no)

studio = Studio(low_vram=True)
print(studio(torch.randint(0, 50, (1, 5)), torch.randint(0, 50, (1, 5))).shape)
