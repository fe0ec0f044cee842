# spot: loss
@torch.no_grad()
def evaluate(loss):
    history.append(loss.cpu())
