"""Parameters that a checkpoint should have filled and did not: what is computed with them is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch

from diagnose.hooks.modules import dotted


class Unfilled:
    """Notes what `Module.load_state_dict` misses; `names` tells which of it nobody has written to since."""

    def __init__(self) -> None:
        self._missed: dict[tuple[int, str], tuple[Any, str, int]] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """A context that the program runs in."""
        original: Any = torch.nn.Module.load_state_dict

        def load_state_dict(module: Any, *args: Any, **kwargs: Any) -> Any:
            found = original(module, *args, **kwargs)
            with suppress(Exception):  # a module of the program's may do anything when it is asked
                self._loaded(module, found.missing_keys)
            return found

        torch.nn.Module.load_state_dict = load_state_dict  # type: ignore[assignment, method-assign]
        try:
            yield
        finally:
            torch.nn.Module.load_state_dict = original  # type: ignore[method-assign]

    def names(self) -> list[str]:
        """The names of the parameters, with the classes of their modules."""
        return sorted(
            f"{type(module).__name__}.{name}"
            for module, name, version in self._missed.values()
            if (one := module._parameters.get(name)) is not None and one._version == version
        )

    def _loaded(self, root: Any, missing: list[str]) -> None:
        given = {
            id(one)
            for name, one in root.named_parameters(remove_duplicate=False)
            if name not in missing
        }
        for part, module in root.named_modules():
            for name, one in module._parameters.items():
                key = dotted(part, name)
                if key in missing and one is not None and id(one) not in given:
                    self._missed[id(module), name] = (module, name, one._version)
                else:
                    self._missed.pop((id(module), name), None)
