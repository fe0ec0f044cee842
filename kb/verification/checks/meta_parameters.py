from helpers import hook_of, judged_models, listed, parts_of


def check_meta_parameters(watch):
    """no parameter is left without values on the meta device"""
    for model in judged_models(watch):
        names = []
        for path, module in model.named_modules():
            if getattr(hook_of(module), "offload", False):
                continue  # its values come when it runs
            for name, tensor in parts_of(module, recurse=False).items():
                if tensor.is_meta:
                    names.append(f"{path}.{name}"[not path :])
        if names:
            yield f"{listed(names)} on meta, without values"
