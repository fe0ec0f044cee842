from torch import nn

PADDING = -100
_LOSSES = {"per_residue": {"cross_entropy_loss": lambda **kw: nn.CrossEntropyLoss(**kw, ignore_index=PADDING)}}


def get_loss(protocol, choice, weight=None):
    loss = _LOSSES.get(protocol).get(choice)
    if not loss:
        raise NotImplementedError
    if weight is not None:
        return loss(weight=weight)
    return loss()
