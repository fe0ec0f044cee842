"""The words of a failure: what its lines, functions, files and message are made of, as features.

Facts are what an expert would put into a sentence. Beside them stands what experience tells without a
rule: that a line with ``positives`` in ``nt_xent``, called with one argument, is most often a target made
there. Its weights are learned (training/learn.py), in `diagnose.naming.causes`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from diagnose.model import Frame
from diagnose.naming import causes
from diagnose.scene import Place, Scene, calls, provenance

_TOKEN = re.compile(r"[A-Za-z_]\w*|[-+*/@%&|^~<>=!]=?|[\[(]")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_DEVICE = re.compile(r"cuda:\d+|cpu|meta|mps|npu|xpu")
#: torch's own frames that only pass a call on.
_PASSING = frozenset({"_call_impl", "_wrapped_call_impl", "decorate_context", "wrapper"})
#: How much of a line, of a message and of a stack is looked at.
_LINE, _SAID, _ABOVE = 300, 60, 6


def words(scene: Scene) -> frozenset[str]:
    """The features of a device failure."""
    return frozenset(
        (*_of_message(scene), *_of_frames(scene), *_of_operands(scene), *_of_calls(scene))
    )


def experience(scene: Scene) -> Mapping[str, float]:
    """What the words of a failure add to each cause, in log-odds.

    Nothing where a file or the process shows the misplaced value, since a deeper fact beats a shallower
    one, and nothing where there are neither frames nor a description.
    """
    report = scene.report
    if report.description is not None:
        return scene.knowledge.descriptions().scores(report.description.words)
    if scene.suspects or not report.frames:
        return {}
    return causes.table().scores(words(scene))


def _of_message(scene: Scene) -> Iterator[str]:
    report = scene.report
    message = report.error.message[:2000] if report.error else ""
    said = re.findall(r"[A-Za-z_']+", _DEVICE.sub("DEVICE", message))[:_SAID]
    yield from (f"says {word}" for word in said)
    yield from (f"says {one} {two}" for one, two in pairwise(said))
    devices = _DEVICE.findall(message)[:4]
    yield f"devices {' '.join(devices)}"
    yield f"pair {scene.pair}"
    yield from (f"role {role} {_side(device)}" for role, device in scene.roles.items())


def _side(device: str) -> str:
    return "cpu" if device.lower() == "cpu" else "gpu"


def _of_frames(scene: Scene) -> Iterator[str]:
    passed = [f for f in scene.report.frames if f.function not in _PASSING]
    outside = [f for f in passed if f.library != "torch" and not f.file.startswith("<")]
    own = [f for f in outside if f.own]
    yield from (f"library {f.library}" for f in passed if f.library)
    yield from (f"inner {f.function}" for f in passed[-2:])
    yield f"frames {min(6, len(outside))}"
    if not outside:
        return
    yield from _of_line("site", outside[-1])
    if own:
        yield from _of_line("own", own[-1])
        yield f"own {'fails' if own[-1] is outside[-1] else 'calls'} {scene.pair}"
    for frame in outside[:-1][-_ABOVE:]:
        yield from _of_line("above", frame)
    for frame in outside[-_ABOVE:]:
        folder = frame.file.replace("\\", "/").split("/")[-2:]
        yield from (f"file {part}" for part in _parts("/".join(folder)))


def _of_line(where: str, frame: Frame) -> Iterator[str]:
    tokens = _TOKEN.findall((frame.code or "")[:_LINE])
    for token in tokens:
        yield f"{where} {token}"
        yield from (f"{where} part {part}" for part in _parts(token))
    yield from (f"{where} {one} {two}" for one, two in pairwise(tokens))
    if frame.function:
        yield f"{where} in {frame.function}"
        yield from (f"{where} in part {part}" for part in _parts(frame.function))


def _parts(text: str) -> list[str]:
    return [part.lower() for part in _PART.findall(text[:_LINE])]


def _of_operands(scene: Scene) -> Iterator[str]:
    met, site = scene.met, scene.site
    if met is None or site is None:
        return
    count = "one" if len(met.strays) == 1 else "several"
    for stray in met.strays[:3]:
        name = provenance.name(stray.node)
        yield from (f"stray {name}", f"stray {count} {name}")
        yield from (f"stray part {part}" for part in _parts(name))
        own = "self" if provenance.is_own(stray.node) else ""
        root = type(calls.root(stray.node, scene.knowledge.torch)).__name__
        yield f"stray is {count} {root} {own} {'layer' if stray.layer else ''}"
        if not own and not stray.layer:
            yield from _passed(name, site, scene)
    found = scene.provenance
    if found is not None:
        for origin, share in found.items():
            if share > 0.25:
                yield f"from {origin} {'surely' if share > 0.5 else 'perhaps'} {scene.pair}"


def _passed(name: str, site: Place, scene: Scene) -> Iterator[str]:
    """Whether the caller passes something that is called like the operand."""
    above, torch = scene.above, scene.knowledge.torch
    given = provenance.arguments(above[0], site, torch) if above else None
    if given is not None:
        same = any(one.is_called(name) for one in given)
        yield "passed" if same else f"not passed of {min(len(given), 4)}"
        yield f"{'passed' if same else 'not passed'} {name}"


def _of_calls(scene: Scene) -> Iterator[str]:
    places = (*((scene.site,) if scene.site is not None else ()), *scene.above)
    for number, (call, shares) in enumerate(provenance.called(places, scene.knowledge.torch)):
        parts = _parts(ast.unparse(call.func)[:_LINE])
        yield from (f"calls part {part}" for part in parts)
        yield f"calls a {max(shares, key=lambda key: shares[key])}"
        if number < 3:
            yield from (f"calls {number} part {part}" for part in parts)
