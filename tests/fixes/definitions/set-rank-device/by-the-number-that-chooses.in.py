# spot: model = Net().to(f"cuda:{local}")
import os

import torch


def main():
    rank, local = setup()
    model = Net().to(f"cuda:{local}")
    run(model)
