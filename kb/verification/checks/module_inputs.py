from helpers import by_device, failed_calls, hook_of, listed, parts_of


def check_module_inputs(watch):
    """what a model, or the layer that fails, is called with is on its device"""
    calls = failed_calls(watch.error)
    for module, inputs in [*calls[:1], *calls[-1:]]:
        home = by_device(parts_of(module))
        if len(home) != 1 or hook_of(module):  # split, or its hook moves the inputs
            continue
        if type(module).__name__ in ("DataParallel", "DistributedDataParallel"):
            continue  # they move their inputs
        for device, names in by_device({n: t for n, t in inputs.items() if t.dim()}).items():
            if device not in home:
                yield f"{listed(names)} on {device}, {type(module).__name__} on {next(iter(home))}"
