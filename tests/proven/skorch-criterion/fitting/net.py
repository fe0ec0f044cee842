import torch
from fitting.tensors import to_tensor


class Net:
    """Fits a module as scikit-learn would."""

    def __init__(self, module, criterion, device="cpu", **kwargs):
        self.module = module
        self.criterion = criterion
        self.device = device
        self.kwargs = kwargs

    def params_for(self, prefix):
        prefix += "__"
        return {
            name[len(prefix) :]: value
            for name, value in self.kwargs.items()
            if name.startswith(prefix)
        }

    def initialize(self):
        self.initialize_module()
        self.initialize_criterion()
        self.optimizer_ = torch.optim.SGD(self.module_.parameters(), lr=0.1)

    def initialize_criterion(self):
        params = self.params_for("criterion")
        self.criterion_ = self.criterion(**params)
        return self

    def initialize_module(self):
        self.module_ = self.module.to(self.device)
        return self

    def fit(self, X, y):
        self.initialize()
        for Xi, yi in zip(X.split(4), y.split(4)):
            loss = self.train_step(Xi, yi)
        return loss.item()

    def train_step(self, Xi, yi):
        def step():
            self.optimizer_.zero_grad()
            predicted = self.module_(to_tensor(Xi, device=self.device))
            loss = self.get_loss(predicted, yi)
            loss.backward()
            return loss

        return self.optimizer_.step(step)

    def get_loss(self, predicted, true):
        true = to_tensor(true, device=self.device)
        return self.criterion_(predicted, true)
