"""A linear classifier that scikit-learn has trained is put beside a model on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the classifier to the model's device and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class LinearModel(nn.Module):
    """What is left of scikit-learn's classifier after it has been trained: two arrays."""

    def __init__(self, coef, intercept):
        super().__init__()
        self.linear = nn.Linear(coef.shape[1], len(coef))
        self.linear.weight.data = torch.FloatTensor(coef)
        self.linear.bias.data = torch.FloatTensor(intercept)


def sklearn_train(activations, labels):
    """Ridge regression on the host, in NumPy as scikit-learn does it."""
    x, y = activations.cpu().numpy(), labels.cpu().numpy().astype("float32") * 2 - 1
    x_mean = x.mean(axis=0)
    centered = x - x_mean
    gram = centered.T @ centered + 0.1 * torch.eye(x.shape[1]).numpy()
    coef = (torch.linalg.solve(torch.tensor(gram), torch.tensor(centered.T @ y))).numpy()
    return LinearModel(coef[None], [float(y.mean() - x_mean @ coef)])


class TCAV:
    def __init__(self, model, layer, variant):
        self.model, self.layer, self.variant = model, layer, variant

    def compute_cavs(self, concept, random):
        with torch.no_grad():
            activations = torch.cat([self.layer(concept), self.layer(random)])
        labels = torch.arange(2, device=concept.device).repeat_interleave(len(concept))
        classifier = sklearn_train(activations, labels)
        if self.variant == "fixed":
            classifier = classifier.to(concept.device)
        self.cav = classifier.linear.weight.detach()[0]
        return (classifier.linear(activations)[:, 0] > 0).eq(labels.bool()).float().mean()

    def interpret(self, inputs, target):
        hidden = self.layer(inputs).detach().requires_grad_()
        gradient = torch.autograd.grad(self.model(hidden)[:, target].sum(), hidden)[0]
        return (gradient @ self.cav > 0).float().mean()


def main(variant):
    torch.manual_seed(0)
    layer, head = nn.Linear(6, 4).cuda(), nn.Linear(4, 2).cuda()
    tcav = TCAV(head, layer, variant)
    print(tcav.compute_cavs(torch.randn(8, 6).cuda() + 1, torch.randn(8, 6).cuda()))
    print(tcav.interpret(torch.randn(5, 6).cuda(), target=1))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
