# spot: SGD(self.model.parameters())
# owner: self.model
class Trainer:
    def __init__(self, device):
        self.model = Net()
        self.optimizer = SGD(self.model.parameters())
