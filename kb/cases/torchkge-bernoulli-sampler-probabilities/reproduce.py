"""Probabilities that a sampler keeps on the cpu are looked up by relations on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the table to the batch's device and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class BernoulliNegativeSampler:
    def __init__(self, n_ent, bern_probs, variant):
        self.n_ent = n_ent
        self.bern_probs = bern_probs
        self.variant = variant

    def corrupt_batch(self, heads, tails, relations):
        device = heads.device
        if self.variant == "fixed":
            self.bern_probs = self.bern_probs.to(device)
        # Which end of each fact is replaced?
        mask = torch.bernoulli(self.bern_probs[relations]).bool()
        neg_heads, neg_tails = heads.clone(), tails.clone()
        neg_heads[mask] = torch.randint(self.n_ent, (int(mask.sum()),), device=device)
        neg_tails[~mask] = torch.randint(self.n_ent, (int((~mask).sum()),), device=device)
        return neg_heads, neg_tails


class TransE(nn.Module):
    def __init__(self, n_ent, n_rel, dim):
        super().__init__()
        self.ent_emb, self.rel_emb = nn.Embedding(n_ent, dim), nn.Embedding(n_rel, dim)

    def forward(self, h, t, r):
        return -(self.ent_emb(h) + self.rel_emb(r) - self.ent_emb(t)).norm(dim=1)


def main(variant):
    torch.manual_seed(0)
    model = TransE(n_ent=10, n_rel=3, dim=4).cuda()
    sampler = BernoulliNegativeSampler(10, torch.tensor([0.3, 0.5, 0.8]), variant)
    facts = torch.stack([torch.randint(10, (6,)), torch.randint(10, (6,)), torch.randint(3, (6,))])
    h, t, r = facts.cuda()  # DataLoader(use_cuda="all") keeps the facts there
    n_h, n_t = sampler.corrupt_batch(h, t, r)
    torch.relu(0.5 - model(h, t, r) + model(n_h, n_t, r)).mean().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
