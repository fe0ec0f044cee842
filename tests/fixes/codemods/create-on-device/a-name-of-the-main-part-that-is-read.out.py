# cause: created-without-device
# spot: torch.arange(n)
# devices: place; spare
import torch


def drawn(n, spare):
    return torch.arange(n, device=place)


def other(n):
    return torch.rand(n, device=place)


if __name__ == "__main__":
    place = torch.device("cuda")
    drawn(3, place)
