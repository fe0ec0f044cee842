import torch


def get_device(device=None):
    if device is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(device)


class Solver:
    def __init__(self, network, optimizer, loss_function, epochs=2, device=None):
        self.network = network
        self.optimizer = optimizer
        self.loss_function = loss_function
        self.epochs = epochs
        self.device = get_device(device)
        self.network = network.to(self.device)

    def train(self, batches):
        for _ in range(self.epochs):
            results = [self._iteration(x, y) for x, y in batches]
        return sum(results)

    def _iteration(self, x, y):
        x = x.to(self.device)
        y = y.to(self.device)
        self.optimizer.zero_grad()
        prediction = self.network(x).permute(0, 2, 1)
        loss = self.loss_function(prediction, y)
        loss.backward()
        self.optimizer.step()
        return loss.item()
