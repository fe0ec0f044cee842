"""A model is handed copies of its inputs on the GPU; the labels are taken from the ones left behind.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the tokenized batch and prints "fixed: ok".
"""

import sys

import torch
from torch import nn

PAD = 0


def tokenizer(texts):
    rows = [[1 + ord(letter) % 30 for letter in text] for text in texts]
    length = max(map(len, rows))
    ids = torch.tensor([row + [PAD] * (length - len(row)) for row in rows])
    return {"input_ids": ids, "attention_mask": (ids != PAD).long()}


class CausalLM(nn.Module):
    def __init__(self, vocab_size=32, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.lm_head = nn.Linear(width, vocab_size)

    def forward(self, input_ids, attention_mask):
        return self.lm_head(self.embed_tokens(input_ids) * attention_mask[..., None])


class LM:
    def __init__(self, variant):
        self.variant = variant
        self.model = CausalLM().eval().to("cuda:0")
        self.device = self.model.lm_head.weight.device
        self.loss_fct = nn.CrossEntropyLoss(reduction="none")

    def get_perplexity(self, texts):
        model_inputs = tokenizer(texts)
        if self.variant == "fixed":
            model_inputs = {k: v.to(self.device) for k, v in model_inputs.items()}
        logits = self.model(**{k: v.to(self.device) for k, v in model_inputs.items()})
        label = model_inputs["input_ids"].masked_fill(model_inputs["input_ids"] == PAD, -100)
        losses = self.loss_fct(logits[:, :-1].flatten(0, 1), label[:, 1:].flatten())
        losses = losses.view(len(texts), -1)
        counts = (losses != 0).sum(-1).clamp(min=1)
        return (losses.sum(-1) / counts).exp().tolist()


def main(variant):
    torch.manual_seed(0)
    with torch.no_grad():
        print(LM(variant).get_perplexity(["a sentence", "another sentence"]))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
