from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import torch
from harness import tensors_in

LOADED = {}


@contextmanager
def watch_loads():
    """Notes where torch.load puts tensors: their number by file and device."""
    load = torch.load

    def watched_load(file, *args, **kwargs):
        result = load(file, *args, **kwargs)
        name = Path(file).name if isinstance(file, (str, Path)) else "a stream"
        LOADED[name] = Counter(str(tensor.device) for _, tensor in tensors_in(result, name))
        return result

    torch.load = watched_load
    try:
        yield
    finally:
        torch.load = load


def check_checkpoint(watch):
    """what torch.load returns is where this run computes"""
    if watch.error is None:
        return
    for name, devices in LOADED.items():
        for device, count in devices.items():
            yield f"torch.load put {count} tensors of {name} on {device}"
