"""Asks a candidate how many features it gives: it is built and called once, on the cpu, in this process."""

from __future__ import annotations

import contextlib
import io
import re
import signal
import types
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from .model import Piece

LARGEST = 3_000_000
_SECONDS = 8


def probed(piece: Piece) -> Piece | None:
    """The piece with its width and what takes it out of the call's result; None where it does not run."""
    try:
        with quiet(), at_most(_SECONDS), torch.no_grad():
            return _probed(piece)
    except Exception:
        return None


def _probed(piece: Piece) -> Piece | None:
    names = imported(piece)
    if piece.package not in ("torch", "peft") and _weight(piece, names) > LARGEST:
        return None
    names["body"] = eval(piece.build, names).train()
    return fed(piece, names)


def imported(piece: Piece) -> dict[str, Any]:
    """The names that a piece is built of; what is drawn then is always the same."""
    torch.manual_seed(0)
    names: dict[str, Any] = {}
    exec("import torch\nfrom torch import nn\n" + "\n".join(piece.imports), names)
    exec(piece.defs, names)
    return names


def fed(piece: Piece, names: dict[str, Any]) -> Piece | None:
    """A piece whose ``body`` stands in ``names`` with what takes its features out of the call's result."""
    for field in piece.fields:
        made = field.make.replace("$n", "6").replace("$classes", "3")
        names[field.name] = eval(made, names)
    given = eval(piece.call.replace("$body", "body"), names)
    for taken, call in _tensors(given, piece.call):
        if taken.is_floating_point() and 2 <= taken.dim() <= 5 and len(taken) == 6:
            pooled = _pooling(taken)
            width = eval(f"given{pooled}", {"given": taken, "torch": torch}).shape[1]
            if 2 <= width <= 2048:
                return piece._replace(call=call + pooled, width=width)
    return None


def _weight(piece: Piece, names: dict[str, Any]) -> int:
    """How many numbers a model holds, nothing where it cannot be made without values."""
    try:
        with torch.device("meta"):
            weighed = eval(piece.build, names)
    except (RuntimeError, NotImplementedError, ValueError, TypeError):
        return 0
    return sum(one.numel() for one in weighed.parameters())


def _tensors(given: Any, call: str) -> Iterator[tuple[torch.Tensor, str]]:
    """The tensors in a result, each with the expression that takes it out."""
    if isinstance(given, torch.Tensor):
        yield given, call
    elif isinstance(given, Mapping):
        for key, value in given.items():
            if isinstance(value, torch.Tensor):
                plain = type(given) is dict or not re.fullmatch(r"[a-z_]+", key)
                yield value, f'{call}["{key}"]' if plain else f"{call}.{key}"
    elif isinstance(given, tuple | list):
        for number, value in enumerate(given):
            if isinstance(value, torch.Tensor):
                yield value, f"{call}[{number}]"
    elif isinstance(getattr(given, "sample", None), torch.Tensor):
        yield given.sample, f"{call}.sample"


def _pooling(tensor: torch.Tensor) -> str:
    return {2: "", 3: ".mean(1)", 4: ".mean((2, 3))", 5: ".mean((2, 3, 4))"}[tensor.dim()]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Nothing is printed, and no warning told."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raises TimeoutError in what takes longer."""

    def late(number: int, frame: types.FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
