from dataclasses import dataclass

import torch


@dataclass
class Settings:
    seed: int = 3


class Draws:
    def __init__(self, settings, device="cpu"):
        self.generator = torch.Generator(device)
        self.generator.manual_seed(settings.seed)

    def __call__(self, weights):
        return torch.multinomial(weights, 1, generator=self.generator)


class Game:
    def __init__(self, device):
        self.device = device

    def round(self, settings):
        draw = Draws(settings, device=self.device)  # finds: generator-device
        return draw(torch.ones(4, device=self.device))


print(Game(torch.device("cuda")).round(Settings()))
