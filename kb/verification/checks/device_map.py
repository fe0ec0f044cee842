def check_device_map(watch):
    """a model that a device map splits is used as one: not offloaded, not wrapped, not moved"""
    for model in judged_models(watch) if watch.error else ():
        hooks = {path: hook_of(module) for path, module in model.named_modules()}
        hooks = {path: hook for path, hook in hooks.items() if hook}
        away = [path or "all" for path, hook in hooks.items() if getattr(hook, "offload", False)]
        if away:
            yield f"{listed(away)} offloaded and on a GPU only while running"
        homes = {gpu(hook.execution_device) for hook in hooks.values()} - {"meta"}
        found = by_device(parts_of(model))
        if homes and not homes & set(found):
            yield f"accelerate placed the model on {', '.join(sorted(homes))}; it is on {list(found)[0]}"
        elif (
            homes and set(found) - homes - {"meta", "cpu"} or len(homes) > len(set(found) - {"cpu"})
        ):
            yield (
                f"the device map has {', '.join(sorted(homes))}, the parameters are on "
                f"{', '.join(found)}: the model was moved afterwards"
            )
        if len(found) > 1:
            split = "; ".join(f"{listed(names)} on {device}" for device, names in found.items())
            wrapped = type(model).__name__ in ("DataParallel", "DistributedDataParallel")
            yield f"the model is split{' under ' + type(model).__name__ if wrapped else ''}: {split}"
