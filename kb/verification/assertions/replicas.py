import torch
from snippet import devices


def assertion(values, where):
    """DataParallel finds its module on its first GPU, and replicas share no tensor of a GPU."""
    for value in [value for value in values.values() if isinstance(value, torch.nn.DataParallel)]:
        inner = [{k: v for k, v in vars(m).items() if k[0] != "_"} for m in value.module.modules()]
        found, shared = devices(value, "its"), devices(inner, "shared")
        if shared or found.keys() - {f"cuda:{value.device_ids[0]}"}:
            return f"FAIL: DataParallel copies from cuda:{value.device_ids[0]}: {found}, {shared}"
