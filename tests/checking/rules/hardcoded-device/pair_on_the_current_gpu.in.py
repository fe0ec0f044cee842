import argparse

import torch
from torch import nn


class Judge:
    def __init__(self, device):
        self.device = device
        self.net = nn.Linear(4, 1).to(device)

    @torch.no_grad()
    def score(self, rows, wanted):
        right = 0
        for x, y in zip(rows.split(8), wanted.split(8)):
            if torch.cuda.is_available():
                x, y = x.cuda(), y.cuda()  # finds: hardcoded-device
            right += ((self.net(x).squeeze(-1) > 0) == y).sum().item()
        return right / len(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", type=int, default=1)
    args = parser.parse_args()
    device = torch.device(f"cuda:{args.gpu}" if torch.cuda.is_available() else "cpu")
    print(Judge(device).score(torch.rand(32, 4), torch.rand(32) > 0.5))


main()
