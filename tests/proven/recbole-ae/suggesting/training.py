import torch


class Trainer:
    def __init__(self, config, model):
        self.device = config["device"]
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())

    def fit(self, batches):
        total = 0.0
        for user in batches:
            user = user.to(self.device)
            self.optimizer.zero_grad()
            loss = self.model.calculate_loss(user)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total
