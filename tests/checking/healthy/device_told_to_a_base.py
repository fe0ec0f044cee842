# A base of another package is told the device that its class calls its own.
import torch
from transformers.environments import Environment


class Bandit(Environment):
    def __init__(self, size, device="cpu"):
        super().__init__(device=device)
        self.rng = torch.Generator(device=device).manual_seed(0)
        self.outcomes = torch.rand(size, device=device)

    def draw(self):
        index = torch.randint(4, (2,), generator=self.rng, device=self.device)
        return self.outcomes[index]


bandit = Bandit(4, device=torch.device("cpu"))
