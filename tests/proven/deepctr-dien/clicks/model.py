import torch
from clicks.interest import InterestExtractor
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Clicks(nn.Module):
    def __init__(self, items, size, device="cpu"):
        super().__init__()
        self.device = device
        self.embedding = nn.Embedding(items, size)
        self.interest = InterestExtractor(size, device=device)
        self.linear = nn.Linear(size, 1)
        self.to(device)

    def forward(self, X):
        keys, lengths = self.embedding(X[:, :-1]), X[:, -1].long()
        interest = self.interest(keys, lengths)
        return self.linear(interest.mean(dim=1)).sigmoid()

    def fit(self, history, lengths, clicked, epochs=2):
        data = TensorDataset(torch.cat([history, lengths.unsqueeze(1)], dim=1), clicked)
        optimizer = torch.optim.Adam(self.parameters())
        for _ in range(epochs):
            for X, y in DataLoader(data, batch_size=3):
                X, y = X.to(self.device), y.to(self.device)
                lengths = X[:, -1]
                predicted = self(X).squeeze(1)
                loss = nn.functional.binary_cross_entropy(predicted, y[lengths > 0])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        return loss.item()
