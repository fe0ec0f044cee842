# cause: zero-offload
# spot: weight.grad
def shake(weight, noise):
    weight.grad.add_(noise.to(weight.grad.device), alpha=0.1)
