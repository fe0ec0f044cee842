import torch


class Job:
    def __init__(self, model, device):
        self.device = device
        self.model = model.to(self.device)

    def resume(self, path):
        checkpoint = torch.load(path)  # finds: checkpoint-location
        self.model.load_state_dict(checkpoint["model"])
