"""The words of `triton.language` that most kernels are written in, over torch's operators.

A block is a tensor on the current GPU; a number is a block without dimensions; a pointer is the memory of a
tensor with offsets into it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch

from diagnose.simulation.placement import Base


class Program(NamedTuple):
    """One of the programs that a launch runs: its place in the grid, and the grid."""

    place: tuple[int, ...]
    grid: tuple[int, ...]


#: The program that runs now, in this thread.
running: ContextVar[Program | None] = ContextVar("running", default=None)


class constexpr:
    """Marks a parameter that is a constant of the kernel; around a value it is that value."""

    def __new__(cls, value: Any) -> Any:
        """The value itself."""
        return value


class Block(torch.Tensor):
    """Values: `x += 1` makes new ones, where a tensor would change under whoever else holds it."""

    for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "and", "or", "xor"):
        vars()[f"__i{_name}__"] = getattr(torch.Tensor, f"__{_name}__")
    __ilshift__ = torch.Tensor.__lshift__
    __irshift__ = torch.Tensor.__rshift__

    def to(self, dtype: Any, bitcast: bool = False, **options: Any) -> Any:  # type: ignore[override]
        """The values in another type, or what their bits mean there."""
        return self.view(dtype) if bitcast else Base.to(self, dtype)


class Pointer:
    """Addresses: offsets into memory."""

    def __init__(self, memory: torch.Tensor, offset: Any) -> None:
        self.memory = memory
        self.offset = _block(offset)
        self.dtype = SimpleNamespace(element_ty=memory.dtype)

    def __add__(self, more: Any) -> Pointer:
        return Pointer(self.memory, self.offset + more)

    __radd__ = __add__

    def __sub__(self, less: Any) -> Pointer:
        return Pointer(self.memory, self.offset - less)

    def __getitem__(self, index: Any) -> Pointer:
        return Pointer(self.memory, self.offset[index])

    @property
    def shape(self) -> Any:
        """The shape of what stands there."""
        return self.offset.shape


def argument(value: Any, *, constant: bool) -> Any:
    """A kernel's argument as the kernel sees it: a tensor is its address, a whole number a block."""
    if constant or isinstance(value, bool) or not isinstance(value, int | torch.Tensor):
        return value
    if isinstance(value, int):
        return _block(value)
    data = value.data
    size = data.untyped_storage().nbytes() // data.element_size()
    return Pointer(data.as_strided((size,), (1,), 0), data.storage_offset())


def _block(value: Any) -> Any:
    made = value if isinstance(value, torch.Tensor) else torch.tensor(value, device="cuda")
    return made.as_subclass(Block)


# --- memory ---

_broadcast: Any = torch.broadcast_tensors  # untyped in torch


def _load(pointer: Pointer, mask: Any = None, other: Any = 0, **options: Any) -> Any:
    offsets = pointer.offset.long()
    if mask is not None:
        offsets, mask = _broadcast(offsets, _block(mask).bool())
        offsets = torch.where(mask, offsets, 0)
    memory = pointer.memory if len(pointer.memory) else pointer.memory.new_zeros(1)
    found = _block(torch.take(memory, _beside(memory, offsets)).to(offsets.device))
    return found if mask is None else torch.where(mask, found, _block(other).to(found.dtype))


def _store(pointer: Pointer, value: Any, mask: Any = None, **options: Any) -> None:
    _write(pointer, value, mask, accumulate=False)


def _atomic_add(pointer: Pointer, value: Any, mask: Any = None, **options: Any) -> Any:
    before = _load(pointer, mask)
    _write(pointer, value, mask, accumulate=True)
    return before


def _write(pointer: Pointer, value: Any, mask: Any, *, accumulate: bool) -> None:
    memory = pointer.memory
    offsets, values = _broadcast(pointer.offset.long(), _block(value).to(memory.dtype))
    if mask is not None:
        offsets, values, mask = _broadcast(offsets, values, _block(mask).bool())
        offsets, values = offsets[mask], values[mask]
    memory.index_put_((_beside(memory, offsets),), _beside(memory, values), accumulate=accumulate)


def _beside(memory: torch.Tensor, block: Any) -> Any:
    """A plain tensor where the memory is: pinned memory is on the host."""
    return block.as_subclass(torch.Tensor).to(memory.device)


# --- values ---


def _of_blocks(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values, **options: function(*map(_block, values))


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(x: Any, axis: Any = None, keep_dims: bool = False, **options: Any) -> Any:
        return function(x) if axis is None else function(x, axis, keepdim=keep_dims)

    return reduce


def _dot(a: Any, b: Any, acc: Any = None, **options: Any) -> Any:
    dtype = torch.float32 if a.is_floating_point() else torch.int32
    product = a.to(dtype) @ b.to(dtype)
    return product if acc is None else acc + product


def _made(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: _block(function(*args, **kwargs, device="cuda"))


def _program(field: int) -> Callable[[int], Any]:
    def find(axis: int) -> Any:
        program = running.get()
        if program is None:
            raise RuntimeError("a word of triton.language was used outside of a kernel")
        return _block(program[field][axis])

    return find


def _same(value: Any, *_: Any, **options: Any) -> Any:
    return value


def _nothing(*_: Any, **options: Any) -> None: ...


def _static_assert(condition: Any, message: str = "") -> None:
    if not condition:
        raise AssertionError(message)


def _range(*bounds: Any, **options: Any) -> range:
    return range(*bounds)


_FUNCTIONS = (
    *("abs", "ceil", "cos", "erf", "exp", "exp2", "floor", "log", "log2", "maximum", "minimum"),
    *("rsqrt", "sigmoid", "sin", "sqrt", "tanh"),
)
_TYPES = (
    *("int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32", "float64"),
)
_MATH: dict[str, Any] = {
    **{name: _of_blocks(getattr(torch, name)) for name in _FUNCTIONS},
    "clamp": _of_blocks(torch.clamp),
    "fma": _of_blocks(lambda x, y, z: x * y + z),
}

LANGUAGE: dict[str, Any] = {
    **_MATH,
    "math": SimpleNamespace(**_MATH),
    "constexpr": constexpr,
    "tensor": Block,
    "dtype": torch.dtype,
    "int1": torch.bool,
    **{name: getattr(torch, name) for name in _TYPES},
    "program_id": _program(0),
    "num_programs": _program(1),
    "load": _load,
    "store": _store,
    "atomic_add": _atomic_add,
    "arange": _made(lambda start, end, **options: torch.arange(start, end, **options)),
    "zeros": _made(torch.zeros),
    "full": _made(torch.full),
    "zeros_like": torch.zeros_like,
    "where": _of_blocks(torch.where),
    "dot": _dot,
    "sum": _reduction(torch.sum),
    "max": _reduction(torch.amax),
    "min": _reduction(torch.amin),
    "argmax": _reduction(torch.argmax),
    "argmin": _reduction(torch.argmin),
    "cumsum": lambda x, axis=0, **options: torch.cumsum(x, axis),
    "softmax": lambda x, dim=0, **options: torch.softmax(x, dim),
    "trans": lambda x, *dims: x.permute(dims) if dims else x.mT,
    "permute": torch.permute,
    "reshape": lambda x, *shape, **options: x.reshape(*shape),
    "broadcast_to": lambda x, *shape: x.broadcast_to(*shape),
    "expand_dims": torch.unsqueeze,
    "cast": lambda x, dtype, **options: _block(x).to(dtype, **options),
    "cdiv": lambda x, y: (x + y - 1) // y,
    "range": _range,
    "static_range": _range,
    "static_assert": _static_assert,
    "static_print": print,
    "device_print": print,
    "assume": _nothing,
    "debug_barrier": _nothing,
    "multiple_of": _same,
    "max_contiguous": _same,
    "max_constancy": _same,
}
