import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=0, help="which card")
args = parser.parse_args(["--gpu", "1"])
device = torch.device("cuda", args.gpu)


def windows(series, width=4):
    picked = [series[i:i + width] for i in range(len(series) - width)]
    return torch.stack(picked).to(device)  # finds: hardcoded-device


forecaster = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).to(device)
water_level = torch.linspace(0, 1, 20)
for _ in range(2):
    print(forecaster(windows(water_level)).mean().item())
