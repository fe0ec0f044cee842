from helpers import by_device, failed_calls, listed, parts_of, plain_state


def check_criterion(watch):
    """the tensors of a loss or metric, and what it is called with, are on one device"""
    for module, inputs in failed_calls(watch.error)[-1:]:
        name = type(module).__name__
        own = {f"{key} of {name}": tensor for key, tensor in parts_of(module).items()}
        own.update({f"{key} of {name}": tensor for key, tensor in plain_state(module)})
        devices = by_device({key: tensor for key, tensor in inputs.items() if tensor.dim()})
        home = next(iter(devices), None)
        for device, names in by_device(own).items():
            if device != home and inputs:
                yield f"{listed(names)} on {device}, its inputs on {home}"
        for device, names in list(devices.items())[1:]:
            yield f"{listed(names)} on {device}, {listed(devices[home])} on {home}"
