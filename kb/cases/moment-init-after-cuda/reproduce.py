"""A pipeline builds the head of its task in init(), which is called after .to("cuda").

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` calls init() first and prints "fixed: ok".
The encoder is one layer, small and random.
"""

import sys

import torch
from torch import nn


class ClassificationHead(nn.Module):
    def __init__(self, d_model, num_class):
        super().__init__()
        self.linear = nn.Linear(d_model, num_class)

    def forward(self, x):
        x = x.mean(dim=1)
        return self.linear(x)


class MOMENTPipeline(nn.Module):
    def __init__(self, d_model=8, num_class=2):
        super().__init__()
        self.d_model, self.num_class = d_model, num_class
        self.encoder = nn.Linear(4, d_model)
        self.head = None

    def init(self):
        self.head = ClassificationHead(self.d_model, self.num_class)

    def forward(self, x_enc):
        return self.head(torch.relu(self.encoder(x_enc)))


def get_logits(model, dataloader):
    logits_list = []
    with torch.no_grad():
        for batch_x in dataloader:
            batch_x = batch_x.to("cuda").float()
            logits_list.append(model(batch_x).detach().cpu())
    return torch.cat(logits_list)


def main(variant):
    torch.manual_seed(0)
    model = MOMENTPipeline()
    if variant == "failing":
        model = model.to("cuda").float()
        model.init()
    else:
        model.init()
        model = model.to("cuda").float()
    get_logits(model, [torch.rand(2, 5, 4)])
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
