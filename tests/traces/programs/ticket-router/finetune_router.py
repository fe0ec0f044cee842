"""Fine-tunes a DistilBERT that routes support tickets, with a new head for our queues."""

import torch
from torch import nn
from transformers import DistilBertConfig, DistilBertForSequenceClassification

QUEUES = ["billing", "shipping", "returns", "other"]


def pretrained():
    config = DistilBertConfig(vocab_size=200, dim=32, hidden_dim=64, n_layers=2, n_heads=4)
    return DistilBertForSequenceClassification(config)


def with_queue_head(model):
    """The pretrained head knows two classes; ours are four."""
    model.classifier = nn.Linear(model.config.dim, len(QUEUES))
    model.num_labels = len(QUEUES)
    return model


def batches(count, device):
    for _ in range(count):
        input_ids = torch.randint(200, (8, 16), device=device)
        yield {"input_ids": input_ids, "labels": torch.randint(len(QUEUES), (8,), device=device)}


def finetune(model, device):
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    model.train()
    for batch in batches(3, device):
        outputs = model(**batch)
        outputs.loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    device = "cuda"
    model = pretrained().to(device)
    model = with_queue_head(model)
    finetune(model, device)
