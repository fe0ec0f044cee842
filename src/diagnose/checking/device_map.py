"""A device map held against a model's names before anything is loaded; no weight is read or allocated."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from diagnose.casebase.store import load
from diagnose.checking.fingerprints import fingerprinted
from diagnose.checking.model import Finding, Place, Report
from diagnose.errors import DiagnoseError
from diagnose.model import Lang

_INDEX, _WEIGHTS = "model.safetensors.index.json", "model.safetensors"
#: A numbered layer and what stands directly in it.
_LAYER = re.compile(r"(.*\b\d+)\.\D+")
#: Bytes of the largest header that safetensors writes.
_HEADER = 100_000_000


class DeviceMapError(DiagnoseError):
    """A device map or a model that cannot be read; the message is a sentence."""


class _Model(NamedTuple):
    """Names of a model: its tensors and modules; with ``blocks`` those that belong on one device, and which
    tensors are ``tied``. Weights alone do not tell the last two (None)."""

    tensors: tuple[str, ...]
    modules: frozenset[str]
    blocks: tuple[str, ...] | None = None
    tied: tuple[tuple[str, ...], ...] = ()


def check_map(path: Path, model: str, lang: Lang = "en") -> Report:
    """What is wrong with a device map.

    Args:
        path: a JSON object that maps names of modules to devices.
        model: an index of weights, a .safetensors file, a configuration, a folder with one of them, or the
            name of a model that was downloaded before.
        lang: language of the findings.

    Raises:
        DeviceMapError: one of them cannot be read.
        CasebaseError: the case base cannot be read.
    """
    text, says = _text(path), load(lang=lang).device_map()
    devices = _object(path, text)
    found = _wrong({key: _device(value) for key, value in devices.items()}, _model(model))
    findings = [
        Finding(
            rule,
            says[rule].format(name=f"`{name}`", devices=", ".join(sorted(on))),
            _place(path, text, key),
            sure=sure,
        )
        for rule, name, key, on, sure in found
    ]
    return Report(1, tuple(fingerprinted(findings)))


def _wrong(
    devices: Mapping[str, str], model: _Model
) -> Iterator[tuple[str, str, str, set[str], bool]]:
    """Rule, what it is about, the key where to look, its devices, whether that is sure."""
    of = {tensor: _covering(tensor, devices) for tensor in model.tensors}
    known = model.blocks is not None
    for key in devices:
        if key and key not in model.modules and key not in of:
            yield "device-map-unmatched", key, key, set(), known
    bare = {_outermost(tensor, devices): tensor for tensor, key in of.items() if key is None}
    for name in bare:
        yield "device-map-uncovered", name, name, set(), True
    layers = (found[1] for key in devices if (found := _LAYER.fullmatch(key)))
    for block in model.blocks if model.blocks is not None else dict.fromkeys(layers):
        within = {key for name, key in of.items() if name.startswith(f"{block}.")}
        keys = [key for key in devices if key in within]
        if len(on := {devices[key] for key in keys}) > 1:
            yield "device-map-split", block, keys[0], on, known
    for group in model.tied:
        keys = [key for key in map(of.get, group) if key is not None]
        if len(on := {devices[key] for key in keys}) > 1:
            yield "device-map-tied", "`, `".join(group), keys[0], on, True


def _prefixes(name: str) -> list[str]:
    """A name and what it is in, outermost first: the model itself is the empty name."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(len(parts) + 1)]


def _covering(name: str, devices: Mapping[str, str]) -> str | None:
    return next((one for one in reversed(_prefixes(name)) if one in devices), None)


def _outermost(name: str, keys: Iterable[str]) -> str:
    """What a tensor is in, and no key is."""
    around = {prefix for key in keys for prefix in _prefixes(key)} | {""}
    return next(one for one in _prefixes(name) if one not in around)


def _device(value: object) -> str:
    """A device as it is printed; a number is a GPU's."""
    return f"cuda:{value}" if str(value).isdecimal() else str(value)


def _place(path: Path, text: str, key: str) -> Place:
    found = re.search(rf"{re.escape(json.dumps(key))}\s*:", text)
    start = found.start() if found else 0
    line, before = text.count("\n", 0, start) + 1, text.rfind("\n", 0, start) + 1
    width = len(json.dumps(key)) if found else 1
    at = start - before + 1
    return Place(str(path), line, at, line, at + width, text.split("\n")[line - 1])


def _model(name: str) -> _Model:
    path = Path(name)
    held = [path / one for one in (_INDEX, _WEIGHTS)] if path.is_dir() else [path]
    configured = (path / "config.json").is_file() and find_spec("transformers") is not None
    for file in () if configured else filter(Path.is_file, held):
        if file.suffix == ".safetensors":
            return _of_weights(set(_header(file)) - {"__metadata__"})
        if (weights := _object(file, _text(file)).get("weight_map")) is not None:
            return _of_weights(weights)
    return _of_config(name)


def _of_weights(names: Iterable[str]) -> _Model:
    tensors = tuple(sorted(names))
    return _Model(tensors, frozenset(one for name in tensors for one in _prefixes(name)[:-1]))


def _of_config(name: str) -> _Model:
    """The model of a configuration, without its weights; no code that comes with a model is run."""
    try:
        import transformers
        from accelerate import init_empty_weights
        from accelerate.utils import find_tied_parameters
    except ImportError as error:
        raise DeviceMapError(
            f"{name} is read with transformers and accelerate; an index of weights needs neither"
        ) from error
    try:
        config = transformers.AutoConfig.from_pretrained(name, local_files_only=True)
        with init_empty_weights():
            model = getattr(transformers, config.architectures[0])(config)
        model.tie_weights()
    except Exception as error:  # whatever a configuration makes of it
        reason = str(error).partition("\n")[0]
        raise DeviceMapError(f"{name} cannot be read as a model: {reason}") from error
    whole = set(model._no_split_modules or ())
    modules = dict(model.named_modules())
    return _Model(
        tuple(model.state_dict()),
        frozenset(modules),
        tuple(key for key, module in modules.items() if type(module).__name__ in whole),
        tuple(tuple(group) for group in find_tied_parameters(model)),
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DeviceMapError(f"{path} cannot be read: {error}") from error


def _header(path: Path) -> dict[str, Any]:
    """What a file of safetensors says of its tensors."""
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            return _object(path, file.read(min(length, _HEADER)).decode())
    except (OSError, struct.error, UnicodeDecodeError) as error:
        raise DeviceMapError(f"{path} cannot be read: {error}") from error


def _object(path: Path, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DeviceMapError(f"{path} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise DeviceMapError(f"{path} holds no JSON object")
    return found
