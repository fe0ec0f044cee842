# spot: torch.device("cuda", LOCAL_RANK)
import os

import torch

LOCAL_RANK = int(os.environ["LOCAL_RANK"])


def main():
    torch.cuda.set_device(LOCAL_RANK)
    device = torch.device("cuda", LOCAL_RANK)
