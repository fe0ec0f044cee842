import torch
from torch import nn
from transformers import Trainer, TrainingArguments

class TwoCards(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.enc = nn.Linear(d, d)
        self.dec = nn.Linear(d, 1)
        self.enc.to("cuda:0")
        self.dec.to("cuda:1")
    def forward(self, x=None, labels=None):
        h = self.enc(x.to("cuda:0")).to("cuda:1")
        out = self.dec(h)
        return {"loss": (out - labels.to("cuda:1")).pow(2).mean(), "logits": out}

def main():
    rows = [{"x": torch.rand(8), "labels": torch.rand(1)} for _ in range(4)]
    net = TwoCards()  # finds: device-map-under-training
    Trainer(net, TrainingArguments("out", max_steps=1), train_dataset=rows).train()

main()
