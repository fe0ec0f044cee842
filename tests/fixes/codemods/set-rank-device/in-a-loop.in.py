# spot: model(batch)
import torch

local_rank = 1


def train(model, loader, epochs):
    for epoch in range(epochs):
        for batch in loader:
            batch = batch.cuda()
            model(batch)
