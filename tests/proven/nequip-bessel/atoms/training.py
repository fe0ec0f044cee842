import torch


class Trainer:
    def __init__(self, model, device):
        self.device = device
        self.model = model.to(device)
        self.optimizer = torch.optim.Adam(model.parameters())

    def train(self, lengths):
        for batch in lengths.split(4):
            loss = self.batch_step(batch)
        return loss

    def batch_step(self, batch):
        batch = batch.to(self.device)
        out = self.model(batch)
        loss = out.pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
