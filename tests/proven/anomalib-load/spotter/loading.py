import torch


class RestoreWeights:
    """Reads the weights before a model is used."""

    def __init__(self, path):
        self.path = path

    def on_test_start(self, runner, model):
        model.load_state_dict(torch.load(self.path)["state_dict"])

    def on_predict_start(self, runner, model):
        model.load_state_dict(torch.load(self.path)["state_dict"])
