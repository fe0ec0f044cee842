# spot: "cuda"
# cause: dataparallel-home-device
import torch
from torch import nn


def main(opt):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = Net().to(device)
    net = nn.DataParallel(net, device_ids=opt.gpus)
