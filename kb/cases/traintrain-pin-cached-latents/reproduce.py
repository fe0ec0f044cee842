"""Latents and embeddings cached on the GPU go through a loader that pins host memory.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the pinning error,
``python reproduce.py fixed`` keeps the cache on the cpu and prints "fixed: ok".
"""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class LatentsConds(Dataset):
    def __init__(self, images, prompts, vae, text_encoder, variant):
        where = "cpu" if variant == "fixed" else "cuda"
        with torch.no_grad():
            self.latents = vae(images.to("cuda")).to(where)
            self.conds = text_encoder(prompts.to("cuda")).to(where)

    def __len__(self):
        return len(self.latents)

    def __getitem__(self, i):
        return {"latent": self.latents[i], "cond": self.conds[i]}


class ContinualRandomDataset:
    def __init__(self, loaders):
        self.iterators = [iter(loader) for loader in loaders]
        self.idx = -1

    def __iter__(self):
        return self

    def __next__(self):
        self.idx = (self.idx + 1) % len(self.iterators)
        return next(self.iterators[self.idx])


def train_lora(dataset, unet):
    dataloader = ContinualRandomDataset([DataLoader(dataset, batch_size=2, pin_memory=True)])
    optimizer = torch.optim.AdamW(unet.parameters())
    for batch in dataloader:
        latent, cond = (batch[key].to("cuda") for key in ("latent", "cond"))
        unet(latent.flatten(1) + cond).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def main(variant):
    vae = nn.Conv2d(3, 4, 4, stride=4).cuda()
    text_encoder = nn.EmbeddingBag(50, 16).cuda()
    images, prompts = torch.rand(4, 3, 8, 8), torch.randint(50, (4, 6))
    dataset = LatentsConds(images, prompts, vae, text_encoder, variant)
    train_lora(dataset, nn.Linear(16, 16).cuda())
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
