"""The dispatcher of the simulated machine: checks each aten call, runs it, labels its results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .checks import Call, DeviceChecks, Operand
from .driver import Driver
from .generators import generator_device
from .operators import Rule, is_cpu_only, rule_of
from .placement import CPU, UNPLACED, Base, device_of, label_of, place, real_device
from .tensors import refuse_in_capture

# Factories whose overload with a generator is the same operator; `rand_like` and its kin have none.
_WITH_GENERATOR = {
    "rand": "generator",
    "randn": "generator",
    "randint": "generator",
    "randint.low": "low_generator",
    "randperm": "generator",
}
# Matrix products into another dtype: the CPU has no kernels for them.
_MIXED_PRECISION = {
    f"{name}.{overload}"
    for name in ("mm", "bmm", "addmm", "baddbmm")
    for overload in ("dtype", "dtype_out")
}
# What computes nothing: copies, and memory that is only taken.
_COPIES = frozenset({"_to_copy", "copy", "copy_", "clone", "cat", "stack"})
_MEMORY = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "set_", "resize_"})
_BRINGING = frozenset({"copy_", "index", "index_put", "index_put_", "_index_put_impl_"})
# Results that stay on the cpu whatever went in: (operator, position).
_ON_CPU = {("_pack_padded_sequence", 1)}


class Operator:
    """What the dispatcher needs to know of an aten overload, worked out once."""

    def __init__(self, func: Any) -> None:
        schema = func._schema
        namespace, _, name = schema.name.partition("::")
        overload = schema.overload_name
        self.name = f"{name}.{overload}" if overload else name
        self.aten = namespace == "aten"
        self.rule = rule_of(self.name) if self.aten else Rule("free")
        self.cpu_only = not self.aten and is_cpu_only(schema.name)
        self.argument_names = tuple(argument.name for argument in schema.arguments)
        self.written = frozenset(
            argument.name
            for argument in schema.arguments
            if argument.alias_info is not None and argument.alias_info.is_write
        )
        self.fresh = tuple(result.alias_info is None for result in schema.returns)
        self.has_device = "device" in self.argument_names
        self.has_generator = "generator" in self.argument_names
        self.foreach = name.startswith("_foreach_")
        self.computes = self.rule.kind != "free" and name not in _COPIES | _MEMORY
        # Indices and values on the cpu are brought to the GPU: a copy that a CUDA graph cannot have.
        self.copies = self.aten and name in _BRINGING
        self.puts = name in ("index_put", "_unsafe_index_put")  # the result is where self is
        # Indices may be on the cpu whatever they index, so they tell nothing of unplaced memory.
        self.decides = self.rule.kind != "free" and "indices" not in self.argument_names
        # Below autograd only inference mode shows composite operators: they are taken apart there.
        self.composite = self.aten and torch._C._dispatch_has_kernel_for_dispatch_key(
            func.name(), "CompositeImplicitAutograd"
        )
        self.meta = self.rule.kind != "free" and torch._C._dispatch_has_kernel_for_dispatch_key(
            func.name(), "Meta"
        )
        self.seeded: Any = None
        if self.aten and self.name in _WITH_GENERATOR:
            self.seeded = getattr(func.overloadpacket, _WITH_GENERATOR[self.name], None)


_Mode: Any = TorchDispatchMode  # untyped in torch


def _is_autograds(operands: Sequence[Operand]) -> bool:
    """Whether autograd itself makes a tensor, as the gradient of what a custom function's backward got none
    for: with no device of its own."""
    return not operands and torch._C._current_graph_task_id() != -1


class SimulatedDispatch(_Mode):  # type: ignore[misc]
    """Sees each operator below autograd; one instance a thread."""

    _operators: dict[Any, Operator] = {}  # noqa: RUF012 - a cache shared by all instances

    def __init__(self, driver: Driver, device_checks: DeviceChecks) -> None:
        super().__init__()
        self.driver = driver
        self.checks = device_checks

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch wraps __torch_dispatch__ in two more frames, and imports dynamo

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if is_fake_mode():
            return func(*args, **(kwargs or {}))
        if any(map(_takes_calls, types)):
            return NotImplemented  # it comes again with the tensors that the wrapper holds
        operator = self._operators.get(func)
        if operator is None:
            operator = self._operators[func] = Operator(func)
        kwargs = dict(kwargs) if kwargs else {}
        if operator.composite:
            with self:
                result = func.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
        operands, unplaced = _operands(operator, args, kwargs)
        on_gpu = next((o.device for o in _by_weight(operands) if o.device.type == "cuda"), None)
        if on_gpu is not None and operator.meta and _any_meta(operands):
            with self:  # the Python code of the meta kernel compares devices: let it see them
                return func._op_dk(torch._C.DispatchKey.Meta, *args, **kwargs)
        if unplaced and on_gpu is None and operator.decides:
            _settle_on_cpu(operands, unplaced)
        if on_gpu is not None:
            if operator.cpu_only:
                self.checks.no_kernel(func._schema.name)
            call = Call(dict(zip(operator.argument_names, args, strict=False)) | kwargs)
            self.checks.check(operator.name, operator.rule, operands, call)
            if operator.copies:
                refuse_in_capture(self.driver, *(operand.tensor for operand in operands))
            for tensor in unplaced:
                place(tensor, on_gpu)
        elif operator.name == "copy_" and unplaced and operands and _fills(args, operands):
            place(unplaced[0], CPU)  # what is filled with the cpu's memory is the cpu's
        target = self._target(operator, operands, unplaced, on_gpu, kwargs)
        if (
            self.driver.terms.calls is not None
            and operator.computes
            and not _is_autograds(operands)
        ):
            made = isinstance(target, torch.device) and target.type == "cuda"
            self.driver.terms.calls["cuda" if made or on_gpu is not None else "cpu"] += 1
        func = self._seed(operator, func, operands, target, kwargs)
        if operator.name in _MIXED_PRECISION:
            func, args = _in_one_precision(func, args, kwargs)
        result = func(*args, **kwargs)
        if target is not None and operator.fresh:
            _label_results(operator, result, target, args)
        return result

    def _target(
        self,
        operator: Operator,
        operands: Sequence[Operand],
        unplaced: Sequence[torch.Tensor],
        on_gpu: torch.device | None,
        kwargs: dict[str, Any],
    ) -> Any:
        """Where new memory of this call is: a device, `UNPLACED`, or None for the cpu."""
        if not operator.has_device:
            if operands and (operator.rule.kind == "free" or operator.puts) and operator.aten:
                on_gpu = operands[0].device if operands[0].device.type == "cuda" else None
            return on_gpu or (UNPLACED if unplaced and not operands else None)
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False  # a CPU build cannot, and nobody would notice
        device = kwargs.get("device")
        if device is not None and device.type == "cuda":
            kwargs["device"] = CPU
            return self.driver.resolve(device)
        if device is not None and device.type == "meta" and self.driver.terms.drawn:
            kwargs["device"] = CPU
            return None
        if device is not None and device.type != "cpu":
            return None
        inherited: Any = None
        if operands:
            inherited = operands[0].device if operands[0].device.type == "cuda" else None
        elif unplaced:
            inherited = UNPLACED
        # Python's bindings always hand on pin_memory; a call without it comes from C++ code that
        # allocates with the options of a tensor, and those say "cpu" for a simulated GPU too.
        from_cpp = "pin_memory" not in kwargs
        if device is not None and not from_cpp:
            return None
        if device is not None and device.type == "cpu" and not operands and not unplaced:
            # torch.Tensor(2, 3) calls empty without options as well, and that one is on the cpu.
            inner = torch._C._current_graph_task_id() != -1 or self.driver.allocates
            if operator.name == "empty.memory_format" and not inner:
                return None
            return UNPLACED
        return inherited

    def _seed(
        self,
        operator: Operator,
        func: Any,
        operands: Sequence[Operand],
        target: Any,
        kwargs: dict[str, Any],
    ) -> Any:
        """Check the generator of a call, or give a call on a GPU that GPU's own generator."""
        seeded = operator.seeded
        if not operator.has_generator and seeded is None:
            return func
        device = target if isinstance(target, torch.device) else None
        if device is None and operands and not operator.has_device:
            device = operands[0].device
        generator = kwargs.get("generator")
        if generator is not None:
            self.checks.generator(generator_device(generator).type, device or CPU)
            return func
        if device is None or device.type != "cuda" or self.driver.terms.one_stream:
            return func
        kwargs["generator"] = self.driver.default_generator(device)
        return seeded or func


def _in_one_precision(func: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Turn a product with an `out_dtype` into one of arguments that have this dtype already."""
    given = list(args)
    position = next((i for i, value in enumerate(given) if isinstance(value, torch.dtype)), None)
    dtype = kwargs.pop("out_dtype", None) if position is None else given.pop(position)
    converted = [
        Base.to(value, dtype=dtype) if isinstance(value, torch.Tensor) else value for value in given
    ]
    return getattr(func.overloadpacket, "out" if "out" in kwargs else "default"), converted


@cache
def _takes_calls(kind: type[torch.Tensor]) -> bool:
    """Whether a tensor class takes operators apart itself: a DTensor does."""
    return hasattr(kind, "__tensor_flatten__")


def is_fake_mode() -> bool:
    """Whether a FakeTensorMode is on: it stands below ours and simulates devices by itself."""
    return torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE) is not None


def _operands(
    operator: Operator, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[list[Operand], list[torch.Tensor]]:
    """Sort the tensors of a call into those with a device, and those that take any."""
    operands: list[Operand] = []
    unplaced: list[torch.Tensor] = []
    for name, tensor in _tensors(operator, args, kwargs):
        if label_of(tensor) is UNPLACED:
            unplaced.append(tensor)
        else:
            operands.append(Operand(name, tensor, _device(tensor), name in operator.written))
    return operands, unplaced


def _tensors(
    operator: Operator, args: Sequence[Any], kwargs: dict[str, Any]
) -> Iterator[tuple[str, torch.Tensor]]:
    for name, value in [*zip(operator.argument_names, args, strict=False), *kwargs.items()]:
        if isinstance(value, torch.Tensor):
            yield name, value
        elif isinstance(value, list | tuple):
            for item in value:
                if isinstance(item, torch.Tensor):
                    yield name, item


def _device(tensor: torch.Tensor) -> torch.device:
    # A subclass such as FakeTensor may know better than its storage.
    return device_of(tensor) if type(tensor).device is torch.Tensor.device else tensor.device


def _settle_on_cpu(operands: Sequence[Operand], unplaced: Sequence[torch.Tensor]) -> None:
    """Unplaced memory that meets a tensor on the cpu, and no GPU, is on the cpu."""
    if any(operand.tensor.dim() > 0 and operand.device == CPU for operand in operands):
        for tensor in unplaced:
            place(tensor, CPU)


def _fills(args: Sequence[Any], operands: Sequence[Operand]) -> bool:
    """Whether what is copied, and not where it is copied to, has a device: more than a number."""
    return operands[0].tensor is args[1] and args[1].dim() > 0


def _any_meta(operands: Sequence[Operand]) -> bool:
    return any(operand.device.type == "meta" for operand in operands)


def _by_weight(operands: Sequence[Operand]) -> Iterator[Operand]:
    """Operands in the order in which they decide where the call runs: 0-dim tensors last."""
    yield from (operand for operand in operands if operand.tensor.dim() > 0)
    yield from (operand for operand in operands if operand.tensor.dim() == 0)


def _label_results(operator: Operator, result: Any, target: Any, args: Sequence[Any]) -> None:
    """Put new memory on its device; views and written arguments share a label already."""
    several = isinstance(result, list | tuple)
    results = result if several else (result,)
    one_list = several and len(operator.fresh) == 1  # the schema says Tensor[]
    for position, item in enumerate(results):
        if not (operator.fresh[0] if one_list else operator.fresh[position]):
            continue
        if operator.foreach:  # the i-th result belongs to the i-th tensor of the first list
            place(item, device_of(args[0][position]))
        elif (operator.name, position) not in _ON_CPU:
            _place_all(item, target)


def _place_all(item: Any, target: Any) -> None:
    if isinstance(item, list | tuple):
        for part in item:
            _place_all(part, target)
    elif isinstance(item, torch.Tensor) and real_device(item).type != "meta":
        place(item, target)
