# spot: model = Net().to(f"cuda:{local}")
import os

import torch


def setup():
    return int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])


def main():
    rank, local = setup()
    model = Net().to(f"cuda:{local}")
    run(model)
