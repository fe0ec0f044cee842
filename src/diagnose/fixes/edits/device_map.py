"""``device_map="auto"`` is taken out of the call that loads a model, or becomes one device a process."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnose.fixes.line_gate import Change, Refused, Site, replaced, without_keyword

_OWN_DEVICE = '{"": torch.cuda.current_device()}'


def dropped(site: Site) -> Sequence[Change]:
    """Takes ``device_map=...`` out of the call."""
    for call, keyword in _maps(site):
        if is_quantized(call):
            raise Refused("what is quantized while it loads needs a device map")
        return (without_keyword(site, call, keyword),)
    raise Refused("the line has no device_map=")


def is_quantized(call: ast.Call) -> bool:
    """Whether a call loads a model with its weights quantized."""
    return any(
        (one.arg or "").startswith(("load_in_", "quantization_config")) for one in call.keywords
    )


def pinned(site: Site) -> Sequence[Change]:
    """Each process loads all of the model on its own device."""
    for _, keyword in _maps(site):
        if site.line.whole(keyword.value):
            return (replaced(site, keyword.value, _OWN_DEVICE),)
    raise Refused("the line has no whole device_map=")


def _maps(site: Site) -> Iterator[tuple[ast.Call, ast.keyword]]:
    for node in site.line.nodes:
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == "device_map" and site.text(keyword.value) != _OWN_DEVICE:
                    yield node, keyword


KINDS = {"drop-device-map": dropped, "pin-device-map": pinned}
