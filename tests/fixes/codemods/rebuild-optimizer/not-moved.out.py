# spot: SGD(self.model.parameters())
# owner: self.model
class Trainer:
    def __init__(self, device):
        self.model = Net()
        self.model.to(device)
        self.optimizer = SGD(self.model.parameters())
