"""An evaluator takes batches from a loader and gives them to a loss on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves loss, features and labels and prints "fixed: ok".
"""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader

PAIRS = [([1, 2, 3], [1, 2], 0.9), ([4, 5], [9, 8, 7], 0.1), ([6], [6, 6], 0.8)]


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = nn.EmbeddingBag(16, 8, mode="mean", padding_idx=0)

    def forward(self, features):
        return self.embeddings(features["input_ids"])


class CosineSimilarityLoss(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, sentence_features, labels):
        a, b = (self.model(features) for features in sentence_features)
        return torch.cosine_similarity(a, b).sub(labels).square().mean()


def smart_batching_collate(batch):
    *texts, labels = zip(*batch, strict=True)
    features = []
    for column in texts:
        width = max(map(len, column))
        ids = [ids + [0] * (width - len(ids)) for ids in column]
        features.append({"input_ids": torch.tensor(ids)})
    return features, torch.tensor(labels)


def batch_to_device(features, device):
    return {name: value.to(device) for name, value in features.items()}


class LossEvaluator:
    def __init__(self, loader, loss_model, variant):
        self.loader, self.loss_model, self.variant = loader, loss_model, variant
        self.device = torch.device("cuda")
        if variant == "fixed":
            loss_model.to(self.device)

    @torch.no_grad()
    def __call__(self):
        total = 0.0
        for sentence_features, labels in self.loader:
            if self.variant == "fixed":
                sentence_features = [batch_to_device(f, self.device) for f in sentence_features]
                labels = labels.to(self.device)
            total += self.loss_model(sentence_features, labels).item()
        return total / len(self.loader)


def main(variant):
    torch.manual_seed(0)
    model = Encoder().to("cuda")
    loader = DataLoader(PAIRS, batch_size=2, collate_fn=smart_batching_collate)
    evaluate = LossEvaluator(loader, CosineSimilarityLoss(model), variant)
    print("loss", evaluate())
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
