# spot: f"cuda:{card}"
# cause: hardcoded-device
import torch

for card in range(3):
    card = cards[card]
    place = f"cuda:{card}"
