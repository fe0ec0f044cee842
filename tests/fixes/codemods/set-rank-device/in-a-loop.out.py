# spot: model(batch)
import torch

local_rank = 1


def train(model, loader, epochs):
    torch.cuda.set_device(local_rank)
    for epoch in range(epochs):
        for batch in loader:
            batch = batch.cuda()
            model(batch)
