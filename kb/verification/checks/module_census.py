from helpers import by_device, failed_calls, gpu, hook_of, listed, parts_of


def check_module_census(watch):
    """the parts of a model are together, or each where its accelerate hook runs it"""
    calls = failed_calls(watch.error)
    model, inputs = calls[0] if calls else (watch.model, {})
    if model is None:
        return
    everything = by_device(parts_of(model))
    most = next(iter(everything), None)
    homes, misplaced = {}, {}
    for path, module in model.named_modules():
        hook = hook_of(module)
        homes[path] = gpu(hook.execution_device) if hook else homes.get(path.rpartition(".")[0])
        # What is offloaded comes to the GPU when it runs. What has run was where it had to be.
        if getattr(hook, "offload", False) or (not watch.error and has_run(watch, model, path)):
            continue
        home = homes[path] or most
        for name, tensor in parts_of(module, recurse=False).items():
            if str(tensor.device) != home:
                at = str(tensor.device), home
                misplaced.setdefault(at, []).append(f"{path}.{name}"[not path :])
    for (device, home), names in misplaced.items():
        others = len(everything.get(home, ()))
        yield f"{listed(names)} on {device}, {others} other parameters and buffers on {home}"
    if len(everything) == 1 and not any(homes.values()):
        away = [device for device in by_device(inputs) if device != most]
        if away and len(away) == len(by_device(inputs)):
            yield f"all of {type(model).__name__} is on {most}, its inputs on {' and '.join(away)}"


def has_run(watch, model, path):
    """Whether a part of a model, or a module around it, has run to its end."""
    inner = [path, *(path[:at] for at, letter in enumerate(path) if letter == ".")]
    some = any(id(module) in watch.ran for module in model.modules() if module is not model)
    return not path or not some or any(id(model.get_submodule(n)) in watch.ran for n in inner)
