"""Positions of text and of a picture are joined, and only the picture's were given a device.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the text's on the same device and prints "fixed: ok".
"""

import sys

import torch

IMAGE_TOKEN = 9


def image_positions(start, t, h, w, device):
    grid = torch.meshgrid(
        torch.arange(t, device=device),
        torch.arange(h, device=device),
        torch.arange(w, device=device),
        indexing="ij",
    )
    return torch.stack([axis.flatten() for axis in grid]) + start


def get_rope_index(input_ids, grids, variant):
    position_ids = torch.zeros(3, *input_ids.shape, dtype=torch.long, device=input_ids.device)
    text_device = position_ids.device if variant == "fixed" else None
    for row, ids in enumerate(input_ids.tolist()):
        pieces, start, at = [], 0, 0
        for t, h, w in grids[row]:
            text_len = ids.index(IMAGE_TOKEN, at) - at
            pieces.append(torch.arange(text_len, device=text_device).expand(3, -1) + start)
            pieces.append(image_positions(start + text_len, t, h, w, position_ids.device))
            start += text_len + max(t, h, w)
            at += text_len + t * h * w
        pieces.append(torch.arange(len(ids) - at, device=text_device).expand(3, -1) + start)
        position_ids[:, row] = torch.cat(pieces, dim=1)
    return position_ids


def main(variant):
    ids = torch.tensor([[1, 2, *[IMAGE_TOKEN] * 6, 3, 4]], device="cuda")
    positions = get_rope_index(ids, [[(1, 2, 3)]], variant)
    print("positions up to", int(positions.max()))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
