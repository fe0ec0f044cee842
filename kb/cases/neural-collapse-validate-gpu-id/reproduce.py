"""Some metrics call .cuda() in a script that was told another GPU.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` uses the chosen device there as well and prints "fixed: ok".
"""

import sys
from types import SimpleNamespace

import torch
from torch import nn


def compute_info(args, features, labels):
    mu_G = features.mean(dim=0).to(args.device)
    mu_c = [features[labels == c].mean(dim=0) for c in range(args.num_classes)]
    return mu_G, torch.stack(mu_c).to(args.device)


def compute_ETF(args, W, variant):
    K = W.shape[0]
    WWT = torch.mm(W, W.T)
    WWT = WWT / torch.norm(WWT, p="fro")
    sub = torch.eye(K) - 1 / K * torch.ones((K, K))
    sub = sub.to(args.device) if variant == "fixed" else sub.cuda()
    sub = sub / (K - 1) ** 0.5
    return torch.norm(WWT - sub, p="fro").item()


@torch.no_grad()
def main(variant):
    torch.manual_seed(0)
    args = SimpleNamespace(gpu_id=1, num_classes=3)
    args.device = torch.device("cuda", args.gpu_id)
    model = nn.Linear(6, args.num_classes).to(args.device)
    features = torch.randn(9, 6, device=args.device)
    labels = torch.arange(9, device=args.device) % args.num_classes
    mu_G, mu_c = compute_info(args, features, labels)
    print("between classes:", (mu_c - mu_G).norm().item())
    print("ETF:", compute_ETF(args, model.weight, variant))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
