from helpers import by_device, failed_calls, gpu, listed, parts_of, plain_state
from torch import nn


def check_replicas(watch):
    """DataParallel finds its module on the first GPU, and replicas share no GPU tensor"""
    for model in [module for module, _ in failed_calls(watch.error)]:
        if not isinstance(model, nn.DataParallel) or not model.device_ids:
            continue
        home = gpu(model.device_ids[0])
        for device, names in by_device(parts_of(model.module)).items():
            if device != home:
                yield f"{listed(names)} on {device}, DataParallel copies from {home}"
        shared, bound = {}, {}
        for path, module in model.module.named_modules():
            for attribute, tensor in plain_state(module):
                if tensor.is_cuda:
                    shared.setdefault(str(tensor.device), []).append(
                        f"{path}.{attribute}"[not path :]
                    )
            for attribute, value in vars(module).items():
                kept = value.values() if isinstance(value, dict) else [value]
                if any(isinstance(getattr(item, "__self__", None), nn.Module) for item in kept):
                    bound.setdefault(attribute, []).append(path or "the module")
        for attribute, paths in bound.items():
            if not attribute.startswith("_"):
                yield f"{attribute} keeps to the module on {home}, in {', '.join(paths[:4])}"
        for device, names in shared.items():
            yield f"{listed(names)} on {device} and shared by all replicas"
