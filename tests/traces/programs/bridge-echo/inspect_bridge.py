"""Runs the exported crack detector on the inspection vehicle's GPU."""

import torch


def load_detector(path, device):
    detector = torch.export.load(path).module()
    return detector.to(device)


def main():
    device = torch.device("cuda:0")
    detector = load_detector("echo_detector.pt2", device)
    echoes = torch.rand(8, 64).to(device)
    with torch.no_grad():
        scores = detector(echoes)
    print("suspicious:", (scores > 0).sum().item())


if __name__ == "__main__":
    main()
