import torch
from torch import nn
from transformers import Trainer, TrainingArguments

class TwoCards(nn.Module):
    is_parallelizable = True
    def __init__(self, d=8):
        super().__init__()
        self.enc = nn.Linear(d, d).to("cuda:0")
        self.dec = nn.Linear(d, 1).to("cuda:1")
        self.is_parallelizable = self.model_parallel = True
    def forward(self, x=None, labels=None):
        out = self.dec(self.enc(x.to("cuda:0")).to("cuda:1"))
        return {"loss": (out - labels.to("cuda:1")).pow(2).mean(), "logits": out}

rows = [{"x": torch.rand(8), "labels": torch.rand(1)} for _ in range(4)]
Trainer(TwoCards(), TrainingArguments("out", max_steps=1), train_dataset=rows).train()
