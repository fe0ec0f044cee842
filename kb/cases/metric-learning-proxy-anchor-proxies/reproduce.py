"""The proxies that a loss learns are on the cpu, the embeddings on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the loss and prints "fixed: ok".
"""

import sys

import torch
from torch import nn
from torch.nn.functional import linear, normalize


class ProxyAnchorLoss(nn.Module):
    def __init__(self, num_classes, embedding_size):
        super().__init__()
        self.proxies = nn.Parameter(torch.randn(num_classes, embedding_size))

    def forward(self, embeddings, labels):
        cos = linear(normalize(embeddings), normalize(self.proxies))
        return nn.functional.cross_entropy(32 * cos, labels)


class MetricLossOnly:
    def __init__(self, models, losses):
        self.models, self.losses = models, losses

    def calculate_loss(self, curr_batch):
        data, labels = curr_batch
        embeddings = self.models["trunk"](data)
        return self.maybe_get_metric_loss(embeddings, labels)

    def maybe_get_metric_loss(self, embeddings, labels):
        return self.losses["metric_loss"](embeddings, labels)

    def forward_and_backward(self, batch):
        self.calculate_loss(batch).backward()

    def train(self, batches):
        for batch in batches:
            self.forward_and_backward(batch)


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    models = {"trunk": nn.Linear(8, 4).to(device)}
    losses = {"metric_loss": ProxyAnchorLoss(num_classes=3, embedding_size=4)}
    if variant == "fixed":
        losses["metric_loss"].to(device)
    batch = torch.randn(6, 8, device=device), torch.randint(3, (6,), device=device)
    MetricLossOnly(models, losses).train([batch])
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
