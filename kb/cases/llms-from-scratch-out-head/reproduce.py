"""A classification head put into a GPT after model.to(device) stays on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the model after its last change and prints "fixed: ok".
The model is a GPT of the same shape as the book's, small enough to train at once.
"""

import sys

import torch
from torch import nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

BASE_CONFIG = {"vocab_size": 64, "context_length": 16, "emb_dim": 12, "n_heads": 2, "n_layers": 2}


class TransformerBlock(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        emb_dim = cfg["emb_dim"]
        self.n_heads = cfg["n_heads"]
        self.norm1 = nn.LayerNorm(emb_dim)
        self.qkv = nn.Linear(emb_dim, 3 * emb_dim)
        self.proj = nn.Linear(emb_dim, emb_dim)
        self.norm2 = nn.LayerNorm(emb_dim)
        self.ff = nn.Sequential(
            nn.Linear(emb_dim, 4 * emb_dim), nn.GELU(), nn.Linear(4 * emb_dim, emb_dim)
        )

    def forward(self, x):
        heads = self.qkv(self.norm1(x)).unflatten(-1, (3, self.n_heads, -1))
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        mixed = scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).flatten(2))
        return x + self.ff(self.norm2(x))


class GPTModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tok_emb = nn.Embedding(cfg["vocab_size"], cfg["emb_dim"])
        self.pos_emb = nn.Embedding(cfg["context_length"], cfg["emb_dim"])
        self.trf_blocks = nn.Sequential(*(TransformerBlock(cfg) for _ in range(cfg["n_layers"])))
        self.final_norm = nn.LayerNorm(cfg["emb_dim"])
        self.out_head = nn.Linear(cfg["emb_dim"], cfg["vocab_size"], bias=False)

    def forward(self, in_idx):
        positions = torch.arange(in_idx.shape[1], device=in_idx.device)
        x = self.tok_emb(in_idx) + self.pos_emb(positions)
        x = self.final_norm(self.trf_blocks(x))
        logits = self.out_head(x)
        return logits


def calc_loss_batch(input_batch, target_batch, model, device):
    input_batch, target_batch = input_batch.to(device), target_batch.to(device)
    logits = model(input_batch)[:, -1, :]
    return cross_entropy(logits, target_batch)


def train_classifier_simple(model, train_loader, optimizer, device):
    for input_batch, target_batch in train_loader:
        optimizer.zero_grad()
        loss = calc_loss_batch(input_batch, target_batch, model, device)
        loss.backward()
        optimizer.step()


def main(variant):
    torch.manual_seed(123)
    device = torch.device("cuda:0")
    num_classes = 2

    model = GPTModel(BASE_CONFIG)
    if variant == "failing":
        model.to(device)
    for param in model.parameters():
        param.requires_grad = False
    # A new layer is made on the cpu, whatever device the module is on that it becomes part of.
    model.out_head = nn.Linear(BASE_CONFIG["emb_dim"], num_classes)
    if variant == "fixed":
        model.to(device)

    optimizer = torch.optim.AdamW(model.out_head.parameters(), lr=5e-5)
    train_loader = [
        (torch.randint(BASE_CONFIG["vocab_size"], (4, 8)), torch.randint(num_classes, (4,)))
        for _ in range(2)
    ]
    train_classifier_simple(model, train_loader, optimizer, device)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
