import torch
from fitting.net import Net


class Classifier(Net):
    def __init__(self, module, criterion=torch.nn.NLLLoss, **kwargs):
        super().__init__(module, criterion, **kwargs)

    def get_loss(self, predicted, true):
        if isinstance(self.criterion_, torch.nn.NLLLoss):
            predicted = torch.log(predicted)
        return super().get_loss(predicted, true)
