import torch
from torch.utils.data import DataLoader


def train(dataset, model, batch_size, cuda=False):
    optimizer = torch.optim.Adam(model.parameters())
    for batch in DataLoader(dataset, batch_size=batch_size, shuffle=True):
        batch = batch[0]
        if cuda:
            batch = batch.cuda(non_blocking=True)
        loss = -(model(batch).log_softmax(dim=1) * batch).sum(dim=1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def predict(dataset, model, batch_size, cuda=False, encode=True):
    features = []
    model.eval()
    for batch in DataLoader(dataset, batch_size=batch_size, shuffle=False):
        batch = batch[0]
        if cuda:
            batch = batch.cuda(non_blocking=True)
        if encode:
            output = model.encode(batch)
            features.append(output[1].detach().cpu().exp())
        else:
            output = model.forward(batch)
            features.append(output.detach().cpu())
    return torch.cat(features)
