import os

import torch
from helpers import by_device, judged_models, parts_of


def check_rank_binding(watch):
    """each rank uses its own GPU, and that one is the current device"""
    visible = torch.cuda.device_count()
    if not visible:
        return
    rank = os.environ.get("LOCAL_RANK", "")
    own = None
    if rank.isdigit():  # a launcher may show each process only its own GPU
        own = "cuda:0" if visible == 1 else f"cuda:{rank}"
    current = f"cuda:{torch.cuda.current_device()}"
    for model in judged_models(watch):
        devices = list(by_device(parts_of(model)))
        if len(devices) != 1 or not devices[0].startswith("cuda"):
            continue
        if own and devices[0] != own:
            yield f"local rank {rank} has {type(model).__name__} on {devices[0]}, not on {own}"
        elif watch.error and devices[0] != current:
            yield (
                f"{type(model).__name__} is on {devices[0]}, the current device is {current}: "
                f".cuda() and 'cuda' mean that one until torch.cuda.set_device"
            )
