"""A metric written for NumPy predictions is given those of a torch head on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` has the trainer bring them to the cpu and prints "fixed: ok".
"""

import sys

import numpy as np
import torch
from torch import nn


class SetFitHead(nn.Module):
    """The differentiable head: it predicts tensors, scikit-learn's would predict arrays."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def predict(self, embeddings):
        return (torch.sigmoid(self.linear(embeddings)) >= 0.5).long()


class SetFitModel:
    def __init__(self, categories, device="cuda"):
        self.model_body = nn.EmbeddingBag(64, 8).to(device)
        self.model_head = SetFitHead(8, categories).to(device)
        self.device = device

    @torch.no_grad()
    def predict(self, texts):
        ids = [torch.tensor([ord(letter) % 64 for letter in text]) for text in texts]
        embeddings = torch.cat([self.model_body(row[None].to(self.device)) for row in ids])
        return self.model_head.predict(embeddings)


class SetFitTrainer:
    def __init__(self, model, metric, variant):
        self.model, self.metric, self.variant = model, metric, variant

    def evaluate(self, texts, labels):
        y_pred = self.model.predict(texts)
        if self.variant == "fixed" and isinstance(y_pred, torch.Tensor):
            y_pred = y_pred.cpu()
        return self.metric(y_pred, labels)


def compute_metrics(predictions, references):
    predictions = predictions.numpy()
    return {"accuracy": float((predictions == np.asarray(references)).mean())}


def main(variant):
    torch.manual_seed(0)
    trainer = SetFitTrainer(SetFitModel(categories=3), compute_metrics, variant)
    print(trainer.evaluate(["a note", "another one"], [[1, 0, 0], [0, 1, 1]]))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
