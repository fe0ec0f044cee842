"""What several checks need; a program gets those of these functions that its checks call."""

from __future__ import annotations

import inspect
import traceback

import torch
from harness import tensors_in
from torch import nn


def parts_of(module, recurse=True):
    """Parameters and buffers by name, without the empty ones that ZeRO leaves."""
    named = [*module.named_parameters(recurse=recurse), *module.named_buffers(recurse=recurse)]
    return {name: tensor for name, tensor in named if tensor.numel()}


def by_device(named):
    """Names by device; first the device of most of them, a GPU rather than the cpu."""
    groups = {}
    for name, tensor in named.items():
        groups.setdefault(str(tensor.device), []).append(name)
    return dict(sorted(groups.items(), key=lambda group: (-len(group[1]), group[0] == "cpu")))


def listed(names):
    """The first names, how many more, and the verb that fits."""
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return f"{', '.join(names[:4])}{more} {'is' if len(names) == 1 else 'are'}"


def failed_calls(error):
    """The modules that were running, outermost first, each with its input tensors by name."""
    calls = []
    for frame, _ in traceback.walk_tb(error.__traceback__) if error else ():
        seen = frame.f_locals
        if frame.f_code.co_name == "_call_impl" and isinstance(seen.get("self"), nn.Module):
            module, args, kwargs = seen["self"], seen.get("args", ()), seen.get("kwargs", {})
            try:
                given = inspect.signature(module.forward).bind(*args, **kwargs).arguments
            except (TypeError, ValueError):
                given = {"input": args, **kwargs}
            inputs = [pair for name, value in given.items() for pair in tensors_in(value, name)]
            calls.append((module, dict(inputs)))
    return calls


def judged_models(watch):
    """The models to look at: the one that failed or has just run, else all that ran."""
    if watch.model is not None:
        return [watch.model]
    frames = traceback.walk_tb(watch.error.__traceback__) if watch.error else ()
    failed = [frame.f_locals.get("self") for frame, _ in frames]
    models = [holder for holder in failed if isinstance(holder, nn.Module)][:1]
    alive = [reference() for reference in watch.models.values()]
    return models or [model for model in alive if model is not None]


def hook_of(module):
    """The accelerate hook that places a module, or None."""
    hook = getattr(module, "_hf_hook", None)
    for inner in getattr(hook, "hooks", [hook]):
        if getattr(inner, "execution_device", None) is not None:
            return inner
    return None


def gpu(device):
    """The name of a device as tensors print it, whether given as number, string or device."""
    return f"cuda:{device}" if isinstance(device, int) else str(torch.device(device))


def plain_state(module):
    """Tensors that .to() does not reach: plain attributes, and modules in plain containers."""
    for name, value in vars(module).items():
        if name.startswith("_"):
            continue
        yield from tensors_in(value, name)
        items = value.items() if isinstance(value, dict) else ()
        if isinstance(value, (list, tuple)):
            items = enumerate(value)
        for key, item in items:
            if isinstance(item, nn.Module):
                for part, tensor in parts_of(item).items():
                    yield f"{name}[{key!r}].{part}", tensor


def memory_of(tensor):
    """What tensors share that are parts of one; a tensor of others (a DTensor) has its own."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return id(tensor)
