"""A loss makes its buffers on cuda:0, and the logits that it is given are on another GPU.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes them beside the logits and prints "fixed: ok". ``kernel`` stands
for the Triton kernel: it fills buffers by their addresses and asks nothing about devices.
"""

import sys

import torch


def kernel(logits, labels, losses, logsumexp):
    logsumexp.copy_(logits.logsumexp(-1))
    picked = logits.gather(-1, labels.clamp(min=0)[:, None]).squeeze(-1)
    losses.copy_(logits.logsumexp(-1) - picked)


class FastCrossEntropyLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, labels, variant):
        device = "cuda:0" if variant == "failing" else logits.device
        n_rows = len(logits)
        losses = torch.empty(n_rows, dtype=torch.float32, device=device)
        logsumexp = torch.empty(n_rows, dtype=torch.float32, device=device)
        kernel(logits, labels, losses, logsumexp)
        losses.masked_fill_(labels == -100, 0)
        ctx.save_for_backward(logits, logsumexp, labels)
        return losses

    @staticmethod
    def backward(ctx, grad_losses):
        logits, logsumexp, labels = ctx.saved_tensors
        grad = (logits - logsumexp[:, None]).exp()
        grad[torch.arange(len(labels), device=labels.device), labels.clamp(min=0)] -= 1
        return grad * (grad_losses * (labels != -100))[:, None], None, None


def fast_cross_entropy_loss(logits, labels, variant):
    losses = FastCrossEntropyLoss.apply(logits, labels, variant)
    return losses.sum() / (labels != -100).sum()


def main(variant):
    torch.manual_seed(0)
    logits = torch.randn(6, 16, device="cuda:1", requires_grad=True)
    labels = torch.tensor([3, 1, -100, 7, 0, -100], device="cuda:1")
    fast_cross_entropy_loss(logits, labels, variant).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
