# cause: zero-offload
# spot: weight.grad
def shake(weight, noise):
    weight.grad.add_(noise, alpha=0.1)
