# devices: cuda:0,cpu
# causes: optimizer-state
import os
import torch
from torch import nn, optim

class Trainer:
    def __init__(self, model, device):
        self.model = model
        self.device = device
        self.optimizer = optim.AdamW(self.model.parameters())

    def load(self, path):
        state = torch.load(path, map_location="cpu")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optim"])

    def fit(self, data):
        self.model = self.model.to(self.device)
        for x in data:
            loss = self.model(x.to(self.device)).mean()
            loss.backward()
            self.optimizer.step()  # fails

t = Trainer(nn.Linear(2, 2), torch.device("cuda"))  # here
t.load("ck.pt")
t.fit([torch.rand(2, 2)])
