"""Some metrics call .cuda() in a script that was told another GPU.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` uses the chosen device there as well and prints "fixed: ok".
"""

import sys
from types import SimpleNamespace

import torch
from torch import nn


def compute_info(args, features, labels):
    means = [features[labels == number].mean(dim=0) for number in range(args.num_classes)]
    return (torch.stack(means) - features.mean(dim=0)).to(args.device)


def compute_ETF(args, weight, variant):
    """How far the classifier's rows are from the corners of a simplex."""
    gram = weight @ weight.T
    identity = torch.eye(args.num_classes)
    identity = identity.to(args.device) if variant == "fixed" else identity.cuda()
    simplex = identity - 1.0 / args.num_classes
    return (gram / gram.norm() - simplex / simplex.norm()).norm().item()


@torch.no_grad()
def main(variant):
    torch.manual_seed(0)
    args = SimpleNamespace(gpu_id=1, num_classes=3)
    args.device = torch.device("cuda", args.gpu_id)
    model = nn.Linear(6, args.num_classes).to(args.device)
    features = torch.randn(9, 6, device=args.device)
    labels = torch.arange(9, device=args.device) % args.num_classes
    print("between classes:", compute_info(args, features, labels).norm().item())
    print("ETF:", compute_ETF(args, model.weight, variant))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
