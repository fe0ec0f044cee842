"""A dynamically quantized model is sent to the GPU, where its operator does not exist.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the dispatcher's error,
``python reproduce.py fixed`` keeps the quantized model on the cpu and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class TinyBert(nn.Module):
    def __init__(self, vocabulary, width, classes):
        super().__init__()
        self.embeddings = nn.Embedding(vocabulary, width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.classifier = nn.Linear(width, classes)

    def forward(self, batch_input_ids):
        hidden = self.embeddings(batch_input_ids)
        scores = self.query(hidden) @ self.key(hidden).mT / hidden.shape[-1] ** 0.5
        pooled = (scores.softmax(-1) @ self.value(hidden)).mean(dim=1)
        return self.classifier(pooled)


def main(variant):
    torch.manual_seed(0)
    model = TinyBert(vocabulary=20, width=8, classes=2).eval()
    quantized_model = torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)
    device = torch.device("cpu" if variant == "fixed" else "cuda")
    quantized_model.to(device)
    batch_input_ids = torch.randint(20, (4, 6)).to(device)
    with torch.no_grad():
        print(quantized_model(batch_input_ids).argmax(dim=-1))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
