from helpers import by_device, failed_calls, judged_models, listed, parts_of, plain_state


def check_plain_tensors(watch):
    """tensors and layers that are not registered are on their module's device all the same"""
    if watch.error is None:
        return
    calls = failed_calls(watch.error)
    inputs = calls[-1][1] if calls else {}
    for model in judged_models(watch):
        around = next(iter(by_device(parts_of(model) or inputs)), None)
        odd = {}
        for path, module in model.named_modules():
            home = next(iter(by_device(parts_of(module))), around)
            for name, tensor in plain_state(module):
                if str(tensor.device) != home:
                    odd.setdefault((tensor.device, home), []).append(f"{path}.{name}"[not path :])
        for (device, home), names in odd.items():
            why = f"not registered, so .to() did not move them; their module is on {home}"
            yield f"{listed(names)} on {device}, {why}"
