# spot: "cuda:" + str(turn)
# cause: hardcoded-device
import torch

for turn in range(3):
    place = "cuda:" + str(turn)
