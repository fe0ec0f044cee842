import torch
from torch import nn

class Swapper:
    """Lyrics first, then the tune; save_memory keeps one of the two on the GPU."""
    def __init__(self, save_memory=True):
        self.save_memory = save_memory
        self.lyrics = nn.GRU(6, 6, batch_first=True)
        self.tune = nn.Linear(6, 3)

    def swap(self):
        if self.save_memory:
            self.lyrics.to("cpu")  # finds: low-memory-mode
        self.tune.to("cuda")

    def sing(self, notes):
        self.lyrics.to("cuda")
        words, _ = self.lyrics(notes)
        self.swap()
        echo, _ = self.lyrics(notes)
        return self.tune(words + echo)

print(Swapper().sing(torch.randn(2, 4, 6, device="cuda")).shape)
