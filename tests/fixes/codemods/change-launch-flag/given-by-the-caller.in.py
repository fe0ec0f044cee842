# spot: f"cuda:{card}"
# cause: hardcoded-device
import torch


def build(card):
    return f"cuda:{card}"


for turn in range(3):
    build(turn)
build(last)
