import torch
from torch import nn


class Trainer:
    def __init__(self, device):
        self.device = device
        self.model = nn.Linear(4, 1).to(device)
        self.centers = torch.rand(4, device=device)

    def save(self, path):
        torch.save({"centers": self.centers.cpu()}, path)

    def resume(self, path):
        ckpt = torch.load(path)  # finds: checkpoint-location
        self.centers = ckpt["centers"]

    def step(self):
        x = torch.rand(2, 4, device=self.device)
        return self.model(x - self.centers).sum()


trainer = Trainer(torch.device("cuda:0"))
trainer.save("centers.pt")
trainer.resume("centers.pt")
print(trainer.step())
