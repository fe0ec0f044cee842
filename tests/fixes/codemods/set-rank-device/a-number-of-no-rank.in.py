# spot: model = Net().to(f"cuda:{card}")
import torch


def main():
    card = pick()
    model = Net().to(f"cuda:{card}")
    run(model)
