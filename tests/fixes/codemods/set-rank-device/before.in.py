# spot: torch.device("cuda", LOCAL_RANK)
import os

import torch

LOCAL_RANK = int(os.environ["LOCAL_RANK"])


def main():
    device = torch.device("cuda", LOCAL_RANK)
