# Without `return_tensors` a tokenizer gives lists of numbers.
import torch
from torch import nn
from transformers import AutoTokenizer


class Captioner(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained("gpt2")
        self.end = self.tokenizer("\n", add_special_tokens=False).input_ids[0]
        self.table = nn.Embedding(50_000, 8)

    def forward(self, ids):
        return self.table(ids.clone()) * (ids != self.end).unsqueeze(-1)
