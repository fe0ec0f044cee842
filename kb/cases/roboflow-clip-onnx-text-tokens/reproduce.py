"""Texts and images are embedded on two devices, since only one of the two inputs is moved.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the tokens and prints "fixed: ok". ``run_session`` runs, as the
ONNX session does, on the device of the input that it is given.
"""

import sys

import torch
from torch import nn


def tokenize(texts, context_length=8):
    rows = [[ord(c) % 50 for c in text][:context_length] for text in texts]
    return torch.tensor([row + [0] * (context_length - len(row)) for row in rows])


class InferenceSession:
    def __init__(self, network, providers):
        self.copies = {torch.device(p).type: network(p) for p in providers}


def run_session(session, inputs):
    with torch.no_grad():
        return session.copies[inputs.device.type](inputs)


def text_network(device):
    torch.manual_seed(1)
    return nn.EmbeddingBag(50, 16).to(device)


def visual_network(device):
    torch.manual_seed(2)
    return nn.Sequential(nn.Flatten(), nn.Linear(3 * 8 * 8, 16)).to(device)


class ClipOnnx:
    def __init__(self, device, variant):
        self._device, self.variant = torch.device(device), variant
        self.textual = InferenceSession(text_network, [device, "cpu"])
        self.visual = InferenceSession(visual_network, [device, "cpu"])

    def embed_images(self, images):
        return run_session(self.visual, images.to(self._device))

    def embed_text(self, texts):
        tokens = tokenize(texts)
        if self.variant == "fixed":
            tokens = tokens.to(self._device)
        return run_session(self.textual, tokens)


def compare_embeddings(x_embeddings, y_embeddings):
    x_norm = nn.functional.normalize(x_embeddings, dim=-1)
    y_norm = nn.functional.normalize(y_embeddings, dim=-1)
    return x_norm @ y_norm.T


def main(variant):
    model = ClipOnnx("cuda:0", variant)
    images = model.embed_images(torch.rand(2, 3, 8, 8))
    texts = model.embed_text(["a cat", "a dog"])
    assert compare_embeddings(images, texts).shape == (2, 2)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
