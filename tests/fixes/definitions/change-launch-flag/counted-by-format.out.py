# spot: "cuda:{}".format(turn)
# cause: hardcoded-device
import torch

for turn, rows in enumerate(folds):
    place = "cuda:{}".format(turn % torch.cuda.device_count())
