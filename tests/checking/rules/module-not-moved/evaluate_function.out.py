import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(1, 4, 3)
        self.f = nn.Linear(4 * 36, 10)

    def forward(self, x):
        return self.f(self.c(x).relu().flatten(1))


def evaluate(model, loader, device):
    right = 0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        right += (model(images).argmax(1) == labels).sum().item()
    return right


if __name__ == "__main__":
    data = TensorDataset(torch.rand(6, 1, 8, 8), torch.randint(10, (6,)))
    net = LeNet().to("cuda:0")  # finds: module-not-moved
    print(evaluate(net, DataLoader(data, batch_size=3), torch.device("cuda")))
