import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def train(model, loader, device):
    for images, labels in loader:  # finds: input-not-moved
        labels = labels.to(device)
        images = images.to(device)
        loss = F.cross_entropy(model(images), labels)
        loss.backward()


device = torch.device("cuda")
loader = DataLoader(TensorDataset(torch.rand(4, 6), torch.randint(3, (4,))), batch_size=2)
train(nn.Linear(6, 3).to(device), loader, device)
