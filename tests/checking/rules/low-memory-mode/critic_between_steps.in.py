import torch
from torch import nn

low_mem = True
device = torch.device("cuda")

class Game:
    def __init__(self):
        self.actor = nn.Linear(4, 2).to(device)
        self.critic = nn.Linear(4, 1).to(device)

    def act(self, seen):
        if low_mem:
            self.critic.cpu()  # finds: low-memory-mode
        return self.actor(seen).argmax(-1)

    def worth(self, seen):
        return self.critic(seen)

game = Game()
seen = torch.randn(5, 4, device=device)
game.act(seen)
print(game.worth(seen).mean().item())
