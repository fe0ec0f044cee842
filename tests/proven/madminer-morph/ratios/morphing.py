import torch
from ratios.dense import DenseRatio
from torch import nn
from torch.autograd import grad


class MorphingRatio(nn.Module):
    """A likelihood ratio, put together from those of some components."""

    def __init__(self, components, matrix, observables, hidden):
        super().__init__()
        self.n_components, self.n_parameters = components.shape

        self.components = torch.tensor(components)
        self.matrix = torch.tensor(matrix)

        self.estimators = nn.ModuleList()
        for _ in range(self.n_components):
            self.estimators.append(DenseRatio(observables, hidden))

    def forward(self, theta, x):
        if not theta.requires_grad:
            theta.requires_grad = True

        parts = torch.cat([estimator(x).unsqueeze(1) for estimator in self.estimators], 1)

        weights = []
        for c in range(self.n_components):
            weight = 1.0
            for p in range(self.n_parameters):
                weight = weight * (theta[:, p] ** self.components[c, p])
            weights.append(weight.unsqueeze(1))
        weights = torch.cat(weights, dim=1)

        log_r_hat = torch.einsum("cn,bc,bno->bo", [self.matrix, weights, parts])
        s_hat = 1.0 / (1.0 + torch.exp(log_r_hat))
        (t_hat,) = grad(log_r_hat, theta, grad_outputs=torch.ones_like(log_r_hat.data))
        return s_hat, log_r_hat, t_hat
