"""A container of augmentations detaches what it gets onto the cpu if it handles several kinds.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the convolution's error,
``python reproduce.py fixed`` keeps each tensor where it is, as the mended release does, and prints
"fixed: ok". ``AugmentationSequential`` keeps of its namesake how it treats its arguments.
"""

import sys

import torch
from torch import nn


def _detach_tensor_to_cpu(data):
    return data.detach().cpu()


class RandomHorizontalFlip(nn.Module):
    def forward(self, data):
        return data.flip(-1)


class AugmentationSequential(nn.Sequential):
    def __init__(self, *augmentations, data_keys, mended):
        super().__init__(*augmentations)
        self.data_keys, self.mended = data_keys, mended

    def forward(self, *args):
        outputs = []
        for key, data in zip(self.data_keys, args, strict=True):
            if key == "image" and len(args) > 1:
                data = data.detach() if self.mended else _detach_tensor_to_cpu(data)
            outputs.append(super().forward(data))
        return outputs if len(outputs) > 1 else outputs[0]


def on_after_batch_transfer(batch, train_aug):
    batch["image"], batch["mask"] = train_aug(batch["image"], batch["mask"])
    return batch


def main(variant):
    model = nn.Conv2d(3, 2, 3, padding=1).cuda()
    train_aug = AugmentationSequential(
        RandomHorizontalFlip(), data_keys=["image", "mask"], mended=variant == "fixed"
    )
    batch = {"image": torch.rand(2, 3, 8, 8), "mask": torch.randint(2, (2, 8, 8))}
    batch = {key: value.cuda() for key, value in batch.items()}
    batch = on_after_batch_transfer(batch, train_aug)
    nn.functional.cross_entropy(model(batch["image"]), batch["mask"]).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
