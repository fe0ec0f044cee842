"""What two runs tell against each other: the program as it is meant, and a patch of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from diagnose.processes import TOO_LONG
from diagnose.repair.model import Candidate, Guard, Ran, objection, said
from diagnose.repair.patch import Patch
from diagnose.repair.validation import host_intent
from diagnose.repair.validation.case import Case, line_of
from diagnose.repair.validation.patch_edits import HOME, writes_gpu

#: Fixes that bring something to the host because it belongs there.
_TO_NUMPY = "cpu-before-numpy"
_TO_THE_HOST = frozenset({_TO_NUMPY, "index-to-device"})
#: The fix of what has a kernel only on the cpu: where it writes the cpu, all of it belongs there.
_WITHOUT_KERNEL = "no-to-on-quantized"
#: Fixes after which a module is made where it was sent before.
_MADE_THERE = frozenset({"create-on-device", "materialize-meta"})
#: Causes that are a choice of the wrong GPU.
_CHOOSING = frozenset({"rank-device", "hardcoded-device"})
#: The fix of what is loaded to where it was saved.
_MAPPED = "map-location"
#: The cause of which a mend gathers what is split, or takes away what gathers it.
_SPLIT = "device-map-under-training"
#: Causes of which a mend may draw on the cpu what goes to a GPU then.
_DRAWN = frozenset({"generator-device"})
#: Checks of `diagnose run --verify` whose findings are mistakes even where the program without device
#: has them too: what no optimizer reaches stays untrained wherever it is.
_NEVER = frozenset({"unseen-layers"})
#: What makes code run that Python does not see.
_COMPILED = re.compile(r"\bjit\b|\bscript\(")


def homes(case: Case) -> Iterator[Guard]:
    """What was on a GPU stays on it, and what was sent there still is."""
    wanted, ran, applied = case.wanted, case.ran, case.applied
    made_there = any(one.kind in _MADE_THERE for one in applied)
    split = any(one.cause == _SPLIT for one in applied)
    gathered = split and len(set(ran.homes.values())) == 1
    another = gathered or any(_chooses(*one) for one in case.steps)
    # Who takes another GPU for a part does not put the whole model on it.
    joined = _spread(wanted) - _spread(ran)
    # What was quantized for the host ends there, and nothing beside it.
    sent = {name.partition(".")[0] for name, device in ran.homes.items() if device == "cpu"}
    hosted = any(_is_for_host(*one) for one in case.steps) and len(sent & _on_gpus(wanted)) == 1
    for name, device in wanted.homes.items():
        bare = _unwrapped(name, ran)
        now = bare or ran.homes.get(name, device if made_there else "cpu")
        kept = gathered or name.partition(".")[0] not in joined
        # Where a GPU other than the first was chosen for a model, its wrapper is wrong.
        own = device != "cuda:0" and not bare and any(one.cause == HOME for one in applied)
        if ((another and kept) or (bare and split)) and now.startswith("cuda") and not own:
            continue
        if hosted and now == "cpu":
            continue
        if device.startswith("cuda") and now != device:
            yield objection("homes", "home-moved", name=name, now=now, device=device)
            return
    if wanted.homes:
        yield Guard("homes", True, said("homes"))


def _on_gpus(ran: Ran) -> set[str]:
    """The models of which something is on a GPU."""
    return {name.partition(".")[0] for name, at in ran.homes.items() if at.startswith("cuda")}


def _spread(ran: Ran) -> set[str]:
    """The models that are on several GPUs."""
    found = {
        (name.partition(".")[0], at) for name, at in ran.homes.items() if at.startswith("cuda")
    }
    return {name for name, count in Counter(name for name, _ in found).items() if count > 1}


def _is_for_host(one: Candidate, patch: Patch) -> bool:
    """Whether an edit brings to the cpu what was quantized for it."""
    return one.kind == _WITHOUT_KERNEL and any('"cpu"' in row for _, row in patch.added)


def _unwrapped(name: str, ran: Ran) -> str | None:
    """Where a parameter of a wrapped model is that an edit has taken the wrapper from."""
    wrapper, wrapped, rest = name.partition(".module.")
    if not wrapped or any(one.startswith(f"{wrapper}.") for one in ran.homes):
        return None
    found = {device for one, device in ran.homes.items() if one.partition(".")[2] == rest}
    return found.pop() if len(found) == 1 else None


def _chooses(one: Candidate, patch: Patch) -> bool:
    """Whether an edit takes the GPU that the program names elsewhere, where the wrong one was chosen; that
    of DataParallel, and that to which a checkpoint goes and not to where it was saved, may be told by
    their numbers."""
    if one.cause == HOME or one.kind == _MAPPED:
        return True
    return one.cause in _CHOOSING and not any(writes_gpu(row) for _, row in patch.added)


def hidden(case: Case) -> Iterator[Guard]:
    """Layers in a plain list and plain tensors that train are not only moved: no state_dict has them."""
    for name, device in case.ran.hidden.items():
        if device.startswith("cuda") and case.wanted.hidden.get(name) not in (None, device):
            yield objection("hidden", "hidden", name=name)
            return


def hollow(case: Case) -> Iterator[Guard]:
    """No layer is left with memory that nobody wrote to: what it had learned is lost."""
    for name in sorted(case.ran.hollow - case.wanted.hollow):
        yield objection("hollow", "hollow", name=name)
        return


def state(case: Case) -> Iterator[Guard]:
    """A checkpoint of before still loads: no model saves another buffer, or one fewer. What trains has to
    be saved (`hidden`), so Parameters that an edit registers are no objection; nor is what only one of the
    runs has a model for, such as one that an edit took out of its wrapper."""
    wanted, ran = case.wanted, case.ran
    both = {name.partition(".")[0] for name in wanted.homes}
    both &= {name.partition(".")[0] for name in ran.homes}
    for name in sorted(wanted.saved ^ ran.saved):
        if name.partition(".")[0] in both:
            yield objection("state", "state", name=name)
            return


def on_gpu(case: Case) -> Iterator[Guard]:
    """Nothing moves from a GPU to the cpu, but what a fix brings there because it belongs there."""
    wanted, ran, applied = case.wanted, case.ran, case.applied
    if not wanted.passed:
        return
    # The edited lines that bring something to what the program keeps there.
    hosted = case.lines(lambda patch, row: host_intent.hosted(patch.before, row))
    bringing = [
        one for one, patch in case.steps if one.kind in _TO_THE_HOST or _is_for_host(one, patch)
    ]
    more, fewer = _moved(wanted, ran, applied, hosted=bool(hosted))
    # Of each parameter that is trained now an optimizer counts the steps, and may do so on the cpu.
    more -= max(0, len(ran.trained) - len(wanted.trained))
    if len(bringing) == len(applied):
        if more > 0 < fewer and all(one.kind == _TO_NUMPY for one in bringing):
            yield objection("on-gpu", "more-on-cpu", count=more)
        return
    allowed = {str(one.line) for one in bringing}
    down = sorted(case.edited & ran.to_host - hosted)
    copies = [line for one in down if (line := line_of(one)) not in allowed]
    if more > 0:
        yield objection("on-gpu", "more-on-cpu", count=more)
    if copies:
        yield objection("to-host", "copies-to-cpu", line=copies[0])
    if more <= 0 and not copies:
        yield Guard("on-gpu", True, said("on-gpu"))


def _moved(wanted: Ran, ran: Ran, applied: Sequence[Candidate], *, hosted: bool) -> tuple[int, int]:
    """How many more operators run on the cpu, and how many fewer on GPUs. What is brought there for NumPy,
    to what is kept there, or drawn there, may be joined and counted there too, as long as no layer
    computes there."""
    after = hosted or any(one.kind == _TO_NUMPY or one.cause in _DRAWN for one in applied)
    layers = after and wanted.within.get("cuda", 0) > 0
    before, now = (wanted.within, ran.within) if layers else (wanted.calls, ran.calls)
    return now.get("cpu", 0) - before.get("cpu", 0), before.get("cuda", 0) - now.get("cuda", 0)


def across(case: Case) -> Iterator[Guard]:
    """Where all layers are on one GPU, nothing is carried to it, or away from it, from another one: it
    should have been made there."""
    used = {device for device in case.ran.used if device.startswith("cuda")}
    if len(used) == 1 and (lines := sorted(case.edited & case.ran.across)):
        yield objection("across", "across", line=line_of(lines[0]), device=next(iter(used)))


def silent(case: Case) -> Iterator[Guard]:
    """Nothing is misplaced in silence that was not before, and nothing is left untrained."""
    wanted, ran = case.wanted, case.ran
    known = {(one.kind, one.names) for one in wanted.silent if one.kind not in _NEVER}
    copied = sum(one.kind == "copied" for one in wanted.silent)
    for one in ran.silent:
        if one.kind == "copied" and f"{one.file}:{one.line}" in ran.shared:
            continue
        if one.kind == "copied" and (copied := copied - 1) < 0:
            yield objection("copied", "copied", line=one.line)
        elif one.kind == "meta" and wanted.drawn:
            continue  # there nothing is on the meta device
        elif one.kind != "copied" and (one.kind, one.names) not in known:
            if one.said:
                yield objection(one.kind, "as-told", told=one.said)
            else:
                yield objection(one.kind, "silent", kind=one.kind, names=", ".join(one.names))


def again(case: Case) -> Iterator[Guard]:
    """A second batch passes as the first one does, and no edit copies for it what was copied before."""
    watched = case.ran
    if watched.passed and not watched.again:
        yield Guard("again", True, said("again"))
    else:
        placed = bool(watched.again) or (watched.failure is not None and watched.failure.placement)
        yield Guard("again", False if placed else None, said("again-fails"))
    if lines := sorted(case.edited & watched.repeated - watched.shared):
        yield objection("copied", "copied", line=line_of(lines[0]))


def scattered(case: Case) -> Iterator[Guard]:
    """What a model is given is brought to its device once, and not part by part where its layers use it."""
    handed = case.ran.handed
    lines = sorted(case.edited & set(handed))
    if len({handed[line] for line in lines}) > 1:
        told = ", ".join(line_of(line) for line in lines)
        yield objection("scattered", "scattered", lines=told)


def strayed(case: Case) -> Iterator[Guard]:
    """What one caller of a model alone hands over elsewhere than the model is moves there, and not in the
    model, for all callers."""
    for line, strays in sorted(case.ran.strays.items()):
        caller, other = map(line_of, strays)
        if line in case.edited and strays[0] not in case.edited:
            yield objection("strayed", "strayed", line=line_of(line), caller=caller, other=other)
            return


def exercised(case: Case) -> Iterator[Guard]:
    """Each edit has run; of what torch compiles nobody sees that it runs, nor of a run cut short."""
    for file, lines, name in case.unexercised:
        patch = case.patches[file]
        if patch.edited & {*lines}:
            unseen = case.ran.status == TOO_LONG or _COMPILED.search(patch.after)
            yield Guard("exercised", None if unseen else False, said("never-ran", name=name))
            return
    yield Guard("exercised", True, said("exercised"))
