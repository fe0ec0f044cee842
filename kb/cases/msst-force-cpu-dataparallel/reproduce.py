"""A model kept on the cpu is wrapped in DataParallel because a list of one GPU was given.

Needs torch and one GPU. ``python reproduce.py failing`` ends in DataParallel's error,
``python reproduce.py fixed`` wraps for several GPUs only and prints "fixed: ok".
"""

import argparse
import sys

import torch
from torch import nn


def parse(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--device_ids", nargs="+", type=int, default=0)
    parser.add_argument("--force_cpu", action="store_true")
    return parser.parse_args(arguments)


def build_model():
    return nn.Sequential(nn.Conv1d(2, 8, 5, padding=2), nn.GELU(), nn.Conv1d(8, 4, 1)).eval()


def place(model, args, variant):
    device = "cpu" if args.force_cpu or not torch.cuda.is_available() else "cuda:0"
    if variant == "fixed":
        several = isinstance(args.device_ids, list) and len(args.device_ids) > 1
        wrapped = several and device != "cpu"
    else:
        wrapped = isinstance(args.device_ids, list)
    if wrapped:
        model = nn.DataParallel(model, device_ids=args.device_ids)
    return model.to(device), device


def main(variant):
    args = parse(["--device_ids", "0", "--force_cpu"])
    model, device = place(build_model(), args, variant)
    mixture = torch.randn(1, 2, 64, device=device)
    with torch.no_grad():
        stems = model(mixture)
    assert stems.shape == (1, 4, 64)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
