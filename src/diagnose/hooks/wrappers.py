"""What libraries wrap around modules: hooks that keep them on the host, replicas on several GPUs."""

from __future__ import annotations

from typing import Any

from diagnose.hooks.introspection import attributes, class_name, entries, items

#: Hooks that keep a module on the host but for its forward, and what in a registry of hooks does.
_OFFLOADS = frozenset({"CpuOffload", "UserCpuOffloadHook"})
_GROUPS = frozenset({"group_offloading", "layerwise_offloading"})


def is_offloaded(module: Any) -> bool:
    """Whether accelerate or diffusers keeps a module's weights on the host, or on meta, between calls."""
    held = attributes(module)
    hooks = [held.get("_hf_hook")]
    hooks += [hook for _, hook in items(attributes(hooks[0]).get("hooks"))]
    registry = attributes(held.get("_diffusers_hook")).get("hooks")
    return any(map(_offloads, hooks)) or any(name in _GROUPS for name, _ in entries(registry))


def _offloads(hook: Any) -> bool:
    return class_name(hook) in _OFFLOADS or attributes(hook).get("offload") is True


def is_replica(module: Any) -> bool:
    """Whether a module is the copy that DataParallel runs on one GPU."""
    return bool(attributes(module).get("_is_replica"))
