"""Ranks contracts for a query, on all GPUs."""

import torch
from torch import nn
from transformers import RobertaConfig, RobertaForSequenceClassification


def cross_encoder():
    config = RobertaConfig(
        vocab_size=90,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        num_labels=1,
    )
    return RobertaForSequenceClassification(config).eval()


def rank(model, pairs):
    with torch.inference_mode():
        scores = model(input_ids=pairs.cuda()).logits.squeeze(-1)
    return scores.argsort(descending=True)


if __name__ == "__main__":
    model = cross_encoder()
    if torch.cuda.device_count() > 1:
        model = nn.DataParallel(model)
    print(rank(model, torch.randint(3, 90, (8, 20))))
