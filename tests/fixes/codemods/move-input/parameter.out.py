# spot: parameter x
# name: x
# devices: next(model.parameters()).device
def predict(
    model, x: torch.Tensor = None,  # of any device
):
    """The logits."""
    x = x.to(next(model.parameters()).device)
    return model(x + 1)
