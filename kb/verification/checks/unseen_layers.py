from helpers import judged_models, listed, memory_of, plain_state
from torch import nn


def check_unseen_layers(watch):
    """layers in plain lists and dicts, which parameters() does not reach, are trained too"""
    if not watch.settled or not watch.stepped:
        return
    for model in judged_models(watch):
        reached = [one for one in model.parameters() if id(one) in watch.stepped]
        memory = {memory_of(one) for one in reached}  # FSDP steps its flat ones by their parts
        names = [
            f"{path}.{name}"[not path :]
            for path, module in model.named_modules()
            for name, tensor in plain_state(module)
            if isinstance(tensor, nn.Parameter) and tensor.grad is not None
            if id(tensor) not in watch.stepped
            if memory_of(tensor) not in memory
        ]
        if names:
            yield f"{listed(names)} trained by no optimizer: parameters() reaches no plain list"
