from helpers import by_device, gpu, hook_of, judged_models, listed, parts_of


def check_device_map(watch):
    """a model that is split by a device map is neither offloaded, moved nor wrapped"""
    for model in judged_models(watch) if watch.error else ():
        hooks = {path: hook_of(module) for path, module in model.named_modules()}
        away = [path or "all" for path, hook in hooks.items() if getattr(hook, "offload", False)]
        if away:
            yield f"{listed(away)} offloaded, on a GPU only while running"
        found = by_device(parts_of(model))
        gpus = sorted(device for device in found if device.startswith("cuda"))
        mapped = sorted({gpu(hook.execution_device) for hook in hooks.values() if hook} - {"cpu"})
        if mapped and gpus and mapped != gpus:
            yield f"the device map says {', '.join(mapped)}, the model is on {', '.join(gpus)}"
        if len(found) > 1:
            shards = [
                f"{len(names)} on {device} ({names[0]}, ...)" for device, names in found.items()
            ]
            yield f"the parameters of {type(model).__name__} are split: {', '.join(shards)}"
