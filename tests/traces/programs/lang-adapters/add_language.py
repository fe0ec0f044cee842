"""Trains an adapter for one more language in a running BERT."""

import torch
from adapters import BertAdapterModel
from transformers import BertConfig


def base_model():
    config = BertConfig(
        vocab_size=150,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
    )
    return BertAdapterModel(config)


def add_language(model, name):
    model.add_adapter(name, config="seq_bn")
    model.add_classification_head(name, num_labels=3)
    model.train_adapter(name)


def training_step(model, batch, optimizer):
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    return loss.item()


if __name__ == "__main__":
    device = torch.device("cuda")
    model = base_model().to(device)
    add_language(model, "quechua")
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4)
    input_ids = torch.randint(150, (4, 12), device=device)
    batch = {"input_ids": input_ids, "labels": torch.randint(3, (4,), device=device)}
    print(training_step(model, batch, optimizer))
