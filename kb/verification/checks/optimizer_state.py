import torch
from helpers import by_device, judged_models, listed, parts_of


def check_optimizer_state(watch):
    """an optimizer has its parameters, their gradients and its state on one device"""
    optimizer = watch.optimizer
    if optimizer is None:
        return
    names, homes = {}, {}
    for model in judged_models(watch):
        names.update({id(tensor): name for name, tensor in model.named_parameters()})
        homes.update(by_device(parts_of(model)))
    trained = [p for group in optimizer.param_groups for p in group["params"]]
    odd = {}
    for position, parameter in enumerate(trained if watch.error else ()):
        state = {**optimizer.state.get(parameter, {}), "grad": parameter.grad}
        for key, value in state.items():
            # The number of steps may be on the cpu.
            if isinstance(value, torch.Tensor) and value.dim() and value.device != parameter.device:
                name = f"{key} of {names.get(id(parameter), f'parameter {position}')}"
                odd.setdefault((value.device, parameter.device), []).append(name)
    for (device, home), keys in odd.items():
        yield f"{listed(keys)} on {device}, the parameters on {home}"
    stale = {str(p.device) for p in trained if id(p) not in names and p.grad is None}
    if names and stale and not any(id(p) in names for p in trained) and not stale & set(homes):
        yield (
            f"no parameter of {type(optimizer).__name__} is part of a model that ran: its are on "
            f"{' and '.join(stale)}, the models' on {' and '.join(homes)}"
        )
