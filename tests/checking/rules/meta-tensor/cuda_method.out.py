import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, device=None):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 3, device=device), nn.ReLU())


def main():
    model = Model(device=torch.device("cpu"))
    model.cuda()  # finds: meta-tensor
    return model


if __name__ == "__main__":
    main()
