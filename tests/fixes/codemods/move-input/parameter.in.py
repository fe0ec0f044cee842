# spot: parameter x
# name: x
# devices: next(model.parameters()).device
def predict(
    model, x: torch.Tensor = None,  # of any device
):
    """The logits."""
    return model(x + 1)
