"""Scores hotel reviews with a small BERT, as a batch job would."""

import torch
from transformers import BertConfig, BertForSequenceClassification

VOCABULARY = ["[PAD]", "[CLS]", "[SEP]", "the", "room", "was", "clean", "noisy", "staff", "kind"]


def encode(reviews, width=12):
    """Ids and mask of each review, padded to one width."""
    rows = []
    for review in reviews:
        words = ["[CLS]", *review.split(), "[SEP]"]
        ids = [VOCABULARY.index(word) for word in words]
        rows.append(ids + [0] * (width - len(ids)))
    input_ids = torch.tensor(rows)
    return {"input_ids": input_ids, "attention_mask": (input_ids != 0).long()}


def load_model():
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
    )
    return BertForSequenceClassification(config).eval()


@torch.no_grad()
def score(model, reviews):
    inputs = encode(reviews)
    outputs = model(**inputs)
    return outputs.logits.softmax(dim=-1)[:, 1].tolist()


if __name__ == "__main__":
    sentiment = load_model().to("cuda:0")
    print(score(sentiment, ["the room was clean", "the staff was kind"]))
