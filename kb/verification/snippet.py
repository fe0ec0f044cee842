"""<title><report>
Beside your script, python verify.py <script> ARGS ends in PASS, or in FAIL and why.
In a notebook: from verify import check; print(check(model=model, batch=batch))  # your two names"""

import runpy
import sys
import traceback

import torch


def devices(value, name):
    """Each device with the name of a parameter, buffer, tensor or generator of a value there."""
    if isinstance(value, (torch.Tensor, torch.Generator)):
        return {str(value.device): name}
    if isinstance(value, torch.nn.Module) and "_buffers" in vars(value):
        value = dict([*value.named_parameters(), *value.named_buffers()])
    ends = name.count("[") > 4 or not isinstance(value, (dict, list, tuple))
    items = () if ends else value.items() if isinstance(value, dict) else enumerate(value)
    return {d: n for key, item in items for d, n in devices(item, f"{name}[{key}]").items()}


def check(**values):
    """<promise>"""
    values = {**getattr(values.get("self"), "__dict__", {}), **values}
    where = {name: found for name, value in values.items() if (found := devices(value, name))}
    # <assertion>
    return f"PASS: {where}"


if __name__ == "__main__":
    try:
        runpy.run_path(sys.argv.pop(1), run_name="__main__")
    except BaseException as error:
        if getattr(error, "code", True):  # sys.exit() and sys.exit(0) are no failures
            traceback.print_exc()
            frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][:3:-1]
            own = [f.f_locals for f in frames if torch.__path__[0] not in f.f_code.co_filename]
            found = [text for one in own if (text := check(**one)).startswith("FAIL")]
            sys.exit(found[0] if found else f"FAIL: {error!r:.300}, {devices(own[:1], 'at')}")
    print("PASS: it ran to its end")
