"""An optimizer's state is restored while its model is on the cpu, and the model is moved then.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes the state along and prints "fixed: ok".
"""

import io
import sys

import torch
from torch import nn
from torch.nn.functional import cross_entropy


class GPTModel(nn.Module):
    def __init__(self, vocab_size=32, emb_dim=16):
        super().__init__()
        self.tok_emb = nn.Embedding(vocab_size, emb_dim)
        self.trf_block = nn.Sequential(nn.LayerNorm(emb_dim), nn.Linear(emb_dim, emb_dim))
        self.out_head = nn.Linear(emb_dim, vocab_size, bias=False)

    def forward(self, ids):
        x = self.tok_emb(ids)
        return self.out_head(x + self.trf_block(x))


def train_model_simple(model, optimizer, device, steps):
    for _ in range(steps):
        batch = torch.randint(32, (2, 9)).to(device)
        optimizer.zero_grad()
        logits = model(batch[:, :-1])
        cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten()).backward()
        optimizer.step()


def first_session():
    model = GPTModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-4, weight_decay=0.1)
    train_model_simple(model, optimizer, "cpu", steps=2)
    file = io.BytesIO()
    states = (model.state_dict(), optimizer.state_dict())
    torch.save(dict(zip(("model_state_dict", "optimizer_state_dict"), states, strict=True)), file)
    file.seek(0)
    return file


def optimizer_to(optimizer, device):
    for state in optimizer.state.values():
        for name, value in state.items():
            if torch.is_tensor(value):
                state[name] = value.to(device)


def main(variant):
    torch.manual_seed(0)
    checkpoint = torch.load(first_session(), map_location="cpu")
    model = GPTModel()
    model.load_state_dict(checkpoint["model_state_dict"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-4, weight_decay=0.1)
    optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
    model.to("cuda")
    if variant == "fixed":
        optimizer_to(optimizer, "cuda")
    train_model_simple(model, optimizer, "cuda", steps=1)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
