import torch
from aligning.filters import bell, separable
from torch import nn


def gaussian_kernel(sigma):
    if sigma <= 0:
        raise ValueError(f"sigma is not positive: {sigma}")
    kernel = bell(torch.tensor(sigma), truncated=3)
    return kernel


def cauchy_kernel(sigma):
    tail = int(sigma * 5)
    k = torch.tensor([((x / sigma) ** 2 + 1) for x in range(-tail, tail + 1)])
    k = torch.reciprocal(k)
    return k / torch.sum(k)


kernels = {
    "gaussian": gaussian_kernel,
    "cauchy": cauchy_kernel,
}


class ScalesLoss(nn.Module):
    """Another loss of the smoothed images, at several scales."""

    def __init__(self, loss, scales=None, kernel="gaussian"):
        super().__init__()
        self.kernel_fn = kernels[kernel]
        self.loss = loss
        self.scales = scales

    def forward(self, y_true, y_pred):
        if self.scales is None:
            return self.loss(y_pred, y_true)
        losses = []
        for s in self.scales:
            if s == 0:
                losses.append(self.loss(y_pred, y_true))
            else:
                losses.append(
                    self.loss(
                        separable(y_pred, [self.kernel_fn(s)] * (y_true.ndim - 2)),
                        separable(y_true, [self.kernel_fn(s)] * (y_true.ndim - 2)),
                    )
                )
        return torch.mean(torch.stack(losses, dim=0))
