import torch


class Window:
    def __init__(self, device):
        self.device = device
        self.seen = torch.tensor([])  # finds: created-without-device

    def push(self, x):
        x = x.to(self.device)
        if self.seen.numel():
            x = torch.vstack((self.seen, x))
        return x


print(Window(torch.device("cuda")).push(torch.ones(2, 3)).shape)
