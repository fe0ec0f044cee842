"""Where a keyword decides: ``map_location=``, a generator's device, device maps, offloading."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from diagnose.fixes.codemods.defaults import device_unless_told
from diagnose.fixes.codemods.expressions import (
    expression,
    replaced,
    with_argument,
    with_method,
    without_argument,
)
from diagnose.fixes.codemods.fixed_device import use_device
from diagnose.fixes.codemods.imports import spelled
from diagnose.fixes.codemods.offload_settings import mapped_to_gpu, switched_off
from diagnose.fixes.codemods.positions import ancestors, statement_of, text_of
from diagnose.fixes.codemods.removals import no_move
from diagnose.fixes.codemods.replacements import bare
from diagnose.fixes.codemods.settings import is_switch, turned_off
from diagnose.fixes.codemods.statements import after_statement
from diagnose.fixes.codemods.target_device import target_device
from diagnose.fixes.codemods.transfers import is_moved, receiver, value_of
from diagnose.fixes.edits.device_map import is_quantized
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.model import Source, Suspect
from diagnose.placement.semantics import argument, called, calls, dotted, nodes, scope_of

#: The accelerator of a program that names none.
_GPU = '"cuda"'
#: Functions of accelerate that offload the model that they are given -> the position of its device.
_OFFLOADING = {"cpu_offload": 1, "disk_offload": 2}
_OFFLOAD = re.compile("offload|low_?v?(ram|mem)|low_cpu", re.IGNORECASE)


def map_location(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """A checkpoint is loaded where it is wanted; one that was loaded is copied into the weights where they
    are, and does not take their place."""
    source, call = suspect.spot.source, value_of(suspect)
    if not isinstance(call, ast.Call):
        raise Refused("no call loads it")
    if called(call) == "load_state_dict":
        return [without_argument(source, call, "assign")]
    owner = (dotted(call.func) or "").partition(".")[0]
    if any(keyword.arg is None for keyword in call.keywords):
        raise Refused("** may hold a map_location already")
    if called(call) == "load_file":  # of safetensors, which takes text
        return [with_argument(source, call, "device", f"str({target_device(suspect)})")]
    foreign = owner in torch.host_packages or owner in torch.other_packages
    if called(call) not in torch.checkpoint_loaders or foreign:
        raise Refused("the call takes no map_location")
    if len(call.args) > 1 and owner in torch.torch:
        return [replaced(source, call.args[1], target_device(suspect))]
    return [with_argument(source, call, "map_location", target_device(suspect))]


def generator(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """A generator is made on the device of what it fills, or a tensor where the generator is."""
    source, node = suspect.spot.source, value_of(suspect)
    call = next(iter(calls(node, "Generator")), None)
    drawn = argument(node, "generator") if isinstance(node, ast.Call) else None
    if drawn is not None and isinstance(node, ast.Call) and called(node) in torch.factories:
        return [with_argument(source, node, "device", f"{text_of(source, drawn)}.device")]
    if call is None and isinstance(node, ast.Call) and (name := device_unless_told(source, node)):
        return [with_argument(source, node, name, target_device(suspect))]
    if call is None and isinstance(node, ast.Call) and _draws_order(node):
        name, needed = spelled(source, "torch.Generator", node)
        return [
            with_argument(
                source,
                node,
                "generator",
                f"{name}(device={target_device(suspect, otherwise=_GPU)})",
            ),
            *needed,
        ]
    if call is None:
        return use_device(suspect, torch)
    if call.args:
        return [replaced(source, call.args[0], target_device(suspect))]
    return [with_argument(source, call, "device", target_device(suspect))]


def _draws_order(call: ast.Call) -> bool:
    """Whether a call makes what draws the order of rows with a generator that nobody gave it."""
    return called(call).endswith(("DataLoader", "Sampler", "random_split"))


def drop_device_map(suspect: Suspect, _: TorchNames) -> Sequence[Change]:
    """A model is loaded without ``device_map=``, or not dispatched."""
    source, node = suspect.spot.source, value_of(suspect)
    if is_switch(node):
        return [turned_off(source, node)]
    if isinstance(node, ast.Call) and called(node) == "dispatch_model":
        if not node.args:
            raise Refused("the call does not show what it dispatches")
        return [bare(source, node)]
    call = _call_with(suspect, "device_map")
    if is_quantized(call):
        raise Refused("what is quantized while it loads needs a device map")
    return [without_argument(source, call, "device_map")]


def pin_device_map(suspect: Suspect, _: TorchNames) -> Sequence[Change]:
    """All of a model is loaded on one device, and a quantized one where it is trained."""
    source = suspect.spot.source
    call = _call_with(suspect, "device_map")
    if suspect.cause == "quantized-placement" and not suspect.devices:
        # The process trains on its current GPU, whichever that is.
        name, needed = spelled(source, "torch.cuda.current_device", call)
        return [with_argument(source, call, "device_map", f'{{"": {name}()}}'), *needed]
    device = target_device(suspect)
    return [with_argument(source, call, "device_map", f'{{"": {device}}}')]


def keep_blocks_whole(suspect: Suspect, _: TorchNames) -> Sequence[Change]:
    """A map of devices leaves a block on one device."""
    source, name = suspect.spot.source, "no_split_module_classes"
    for call in calls(value_of(suspect)):
        if called(call) in {"infer_auto_device_map", "get_balanced_memory"} or argument(call, name):
            model = dotted(call.args[0]) if call.args else None
            if model is None:
                raise Refused("the model whose blocks are to stay whole is no name")
            return [with_argument(source, call, name, f"{model}._no_split_modules")]
    raise Refused("no call makes a map of devices")


def change_map(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """A map of devices leaves a block on one device, or no part on the host that is used elsewhere."""
    if suspect.cause == "offloaded-to-cpu":
        return [mapped_to_gpu(suspect)]
    return keep_blocks_whole(suspect, torch)


def disable_offload(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """What is set to offload is set not to."""
    source, node = suspect.spot.source, value_of(suspect)
    if is_switch(node):
        return [turned_off(source, node)]
    # What is dispatched is not moved as a whole; what is put away is, on purpose.
    if is_moved(node, torch) and not _puts_away(node):
        return no_move(suspect, torch)
    if isinstance(node, ast.Constant):
        around = [
            text_of(source, one) for one in ancestors(source, node) if isinstance(one, ast.Dict)
        ]
        if node.value in ("cpu", "nvme") and any(_OFFLOAD.search(text) for text in around):
            return [replaced(source, node, '"none"')]  # as DeepSpeed says it
        raise Refused("the value turns no offloading on")
    for call in calls(node):
        if called(call) in _OFFLOADING:
            return [_not_offloaded(suspect, call)]
        if called(call) == "CPUOffloadPolicy":  # of FSDP; its base offloads nothing
            name, needed = spelled(source, "torch.distributed.fsdp.OffloadPolicy", call)
            return [replaced(source, call, f"{name}()"), *needed]
        if re.fullmatch("enable_.*offload", called(call)):
            return [with_method(source, call, f"to({target_device(suspect, otherwise=_GPU)})")]
    found = [
        replaced(source, keyword.value, "False")
        for call in calls(node)
        for keyword in call.keywords
        if _OFFLOAD.search(keyword.arg or "") and _is_true(keyword.value)
    ]
    return found or [switched_off(suspect)]


def _not_offloaded(suspect: Suspect, call: ast.Call) -> Change:
    """``cpu_offload(model, device)`` becomes ``model.to(device)``."""
    source, runs = suspect.spot.source, argument(call, "execution_device")
    if not call.args or not isinstance(call.args[0], ast.Name | ast.Attribute | ast.Call):
        raise Refused("the call does not show what it offloads")
    given = runs or next(iter(call.args[_OFFLOADING[called(call)] :]), None)
    device = text_of(source, given) if given is not None else target_device(suspect, _GPU)
    return replaced(source, call, f"{text_of(source, call.args[0])}.to({device})")


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _call_with(suspect: Suspect, name: str) -> ast.Call:
    """The call of a suspect's spot that has a keyword."""
    for call in calls(value_of(suspect)):
        if argument(call, name) is not None:
            return call
    raise Refused(f"the call has no {name}=")


def _puts_away(move: ast.AST) -> bool:
    """Whether a move goes to the host: ``.cpu()`` or ``.to("cpu")``."""
    given = [*move.args, *(k.value for k in move.keywords)] if isinstance(move, ast.Call) else []
    words = (one.value for one in given if isinstance(one, ast.Constant))
    return called(move) == "cpu" or "cpu" in words


def materialize(suspect: Suspect, _: TorchNames) -> Sequence[Change]:
    """Parameters on the meta device get memory, or are made on a device that has some."""
    source, node = suspect.spot.source, value_of(suspect)
    if isinstance(node, ast.Constant) and node.value == "meta":
        return [replaced(source, node, target_device(suspect))]
    if not isinstance(node, ast.Call):
        raise Refused("no call moves or makes it")
    if called(node) in {"to", "cuda"}:
        if not _gets_values(suspect, node):
            return [_made_in_memory(source)]
        return [with_method(source, node, f"to_empty(device={_destination(suspect, node)})")]
    if called(node) == "load_state_dict":
        if argument(node, "assign") is None:
            return [with_argument(source, node, "assign", "True")]
        return [_given_memory(suspect, node)]
    if argument(node, "low_cpu_mem_usage") is not None:
        return [without_argument(source, node, "low_cpu_mem_usage")]
    if called(node) in _OFFLOADING:
        return [_not_offloaded(suspect, node)]
    if called(node) == "init_empty_weights":
        if _empties_buffers(node):  # those that no checkpoint holds stay without values
            return [with_argument(source, node, "include_buffers", "False")]
        name, needed = spelled(source, "torch.device", node)
        return [replaced(source, node, f"{name}({target_device(suspect)})"), *needed]
    meta = [one for one in nodes(node, ast.Constant) if one.value == "meta"]
    if len(meta) != 1:
        raise Refused("the call names no meta device")
    # Made in memory it is moved as the program moves it.
    return [replaced(source, meta[0], target_device(suspect, otherwise='"cpu"'))]


def _gets_values(suspect: Suspect, move: ast.Call) -> bool:
    """Whether a program loads or initialises what it moves in a statement below the move: else memory
    without values would stay as it is."""
    source, model = suspect.spot.source, receiver(move)
    statement = statement_of(source, move)
    bound = [ast.unparse(one) for one in getattr(statement, "targets", ())]
    return any(
        call.lineno > (statement.end_lineno or statement.lineno)
        and receiver(call) in (model, *bound)
        for call in calls(scope_of(source.tree, move), *_FILLING)
    )


_FILLING = frozenset({"load_state_dict", "reset_parameters", "init_weights", "apply"})


def _made_in_memory(source: Source) -> Change:
    """What the file's one literal makes on meta is made on the host, from where the program moves it."""
    match [one for one in nodes(source.tree, ast.Constant) if one.value == "meta"]:
        case [said]:
            return replaced(source, said, '"cpu"')
    raise Refused(
        "nothing gives it values after the move, and the file does not show what makes it on meta"
    )


def _empties_buffers(call: ast.Call) -> bool:
    """Whether a call makes the buffers of a model without memory, too, or may."""
    told = argument(call, "include_buffers")
    return told is not None and not (isinstance(told, ast.Constant) and not told.value)


def _given_memory(suspect: Suspect, call: ast.Call) -> Change:
    """What saved weights leave on meta gets memory beside them, and is initialised as its class does."""
    source, model = suspect.spot.source, receiver(call)
    saved = call.args[0] if call.args else None
    if model is None or saved is None:
        raise Refused("the model that is loaded into has no name, or nothing is loaded")
    if isinstance(saved, ast.Name):
        device = f"next(iter({saved.id}.values())).device"
    elif suspect.meets is not None and called(suspect.meets.node) in {"to", "cuda"}:
        device = '"cpu"'  # all of the model is moved from there
    else:
        raise Refused("the weights that are loaded have no name, and nothing moves the model")
    return after_statement(source, statement_of(source, call), drawing(model, device))


def drawing(model: str, device: str) -> str:
    """The statement that gives a model's layers that are still on meta memory and first values."""
    return (
        f"for layer in {model}.modules():\n"
        f"    if any(weight.is_meta for weight in layer.parameters(recurse=False)):\n"
        f"        layer.to_empty(device={device}, recurse=False)\n"
        f"        layer.reset_parameters()"
    )


def _destination(suspect: Suspect, call: ast.Call) -> str:
    """Where a call of ``to`` or ``cuda`` moves."""
    given = [*call.args, *(k.value for k in call.keywords if k.arg == "device")]
    if len(given) > 1 or len(given) < len(call.args) + len(call.keywords):
        raise Refused("the call changes more than the device")
    if given:
        expression(text := text_of(suspect.spot.source, given[0]))
        return text
    return '"cuda"'


KINDS = {
    "map-location": map_location,
    "generator-on-device": generator,
    "drop-device-map": drop_device_map,
    "pin-device-map": pin_device_map,
    "change-device-map": change_map,
    "no-split-modules": keep_blocks_whole,
    "disable-offload": disable_offload,
    "materialize-meta": materialize,
}
