"""From a cause and a report to concrete fixes: the cause's own, fitted to the user's line."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from diagnose.bulkhead import guarded
from diagnose.fixes.completion import completed
from diagnose.fixes.diff import edit, patch
from diagnose.fixes.file_edit import FileEdit
from diagnose.fixes.line_gate import Refused, Site
from diagnose.kinds import DeviceType
from diagnose.model import Cause, Edit, Fact, Fix, FixExample, FixTemplate, TorchNames
from diagnose.patterns import lazy
from diagnose.placeholders import fill
from diagnose.placement.devices import HOME
from diagnose.placement.model import Device, Suspect
from diagnose.scene import Place, Scene

__all__ = ["Considered", "considered", "for_cause", "leaves_unregistered"]


class Considered(NamedTuple):
    """A fix of a cause, the line that it would edit, and the edit or why there is none; whether that is
    of a call that was found by its form, to which no value leads."""

    template: FixTemplate
    place: Place | None
    made: Edit | FileEdit | Refused
    by_form: bool = False

    @property
    def edit(self) -> Edit | None:
        """The edit, None where there is none."""
        if isinstance(self.made, FileEdit):
            return Edit(self.made.file, self.made.line, self.made.before, self.made.after)
        return self.made if isinstance(self.made, Edit) else None


def for_cause(
    cause: Cause, scene: Scene, facts: Mapping[str, Fact], known: Mapping[str, str]
) -> tuple[Fix, ...]:
    """The fixes of a cause in the order to try them: edits of a definition, what a fact calls for
    (``first_with``), edits of the failing line, all else.

    A fix that edits a line comes as an edit of the user's own line where that line shows enough, and
    else as the cause's example of the changed code. Fixes of libraries (upgrade, downgrade, patch)
    come after the others where the failing line is the user's own.

    Args:
        cause: whose fixes.
        scene: the report, looked at.
        facts: what it shows.
        known: what it says for each placeholder (`placeholders.values`); commands are filled with it.
    """
    return tuple(_fitted(one, cause, known, facts) for one in considered(cause, scene, facts))


def considered(cause: Cause, scene: Scene, facts: Mapping[str, Fact]) -> list[Considered]:
    """The fixes of a cause in the order to try them, each with its edit or the reason of its refusal."""
    in_library = "fails-in-library" in facts
    found, blamed = list[Considered](), _blamed(cause, facts)
    for template in sorted(cause.fixes, key=lambda fix: _later(fix, in_library)):
        place = _line_for(template.kind, cause, scene)
        make = partial(_edited, template.kind, cause, place, scene, blamed)
        made = guarded(f"{cause.id}/fixes/{template.kind}", make, Refused("internal error"))
        if any(one.made == made for one in found):
            made = Refused("a fix before it makes the same edit")
        by_form = isinstance(made, FileEdit) and _is_setting(template.kind, cause, scene, made)
        found.append(Considered(template, place, made, by_form))
    return _settled(sorted(found, key=partial(_concrete, facts)), cause, scene)


def _settled(ordered: list[Considered], cause: Cause, scene: Scene) -> list[Considered]:
    """The same, the first edit completed; one after which it fails as before is refused, and comes last.
    Of a program that runs here a run tells, which `diagnose fix` waits for."""
    if scene.is_live:
        return ordered
    refuted = list[Considered]()
    for at, one in enumerate(ordered):
        if not isinstance(one.made, Refused):
            make = partial(completed, one.made, scene)
            made = guarded(f"{cause.id}/fixes/{one.template.kind}", make, one.made)
            ordered[at] = one._replace(made=made)
            if not isinstance(made, Refused):
                break
            refuted.append(ordered[at])
    return [*(one for one in ordered if one not in refuted), *refuted]


def _concrete(facts: Mapping[str, Fact], one: Considered) -> int:
    """Edits of the definition first, and of those the ones that a value leads to; then what a fact calls
    for, edits of the failing line, all else."""
    if isinstance(one.made, FileEdit):
        return 1 if one.by_form else 0
    if any(fact in facts for fact in one.template.first_with):
        return 2
    return 3 if isinstance(one.made, Edit) else 4


def _is_setting(kind: str, cause: Cause, scene: Scene, made: FileEdit) -> bool:
    """Whether an edit is of a call that such a fix edits wherever it stands, and a suspect is elsewhere."""
    setting, suspect = scene.setting(kind, cause.id), scene.suspect(cause.id)
    if setting is None or suspect is None or setting.spot == suspect.spot:
        return False
    last = made.line + made.before.count("\n")
    return not made.line <= suspect.spot.line <= last and made.line <= setting.spot.line <= last


_OF_LIBRARIES = frozenset({"upgrade-library", "downgrade-library", "patch-library-line"})
_DEFAULT = frozenset({"cpu", "cuda", "cuda:0"})
#: Fixes that choose where something comes to be: to bring it over where it is used is no such choice.
_CHOOSING = frozenset({"create-on-device", "map-location", "set-rank-device"})


def leaves_unregistered(kind: str, cause: Cause) -> bool:
    """Whether a fix of this kind, one of the cause's, only moves layers that no optimizer and no state_dict
    knows."""
    return cause.fixes[0].kind == "register-module" != kind


def _is_stopgap(kind: str, cause: Cause) -> bool:
    """Whether an edit of this kind, one of the cause's, leaves the cause where it is."""
    lasting = cause.fixes[0].kind
    meets = kind == "move-tensor-at-line" != lasting
    brought = kind == "move-input" and lasting in _CHOOSING
    return meets or brought or leaves_unregistered(kind, cause)


def _later(fix: FixTemplate, in_library: bool) -> bool:
    return fix.kind in _OF_LIBRARIES and not in_library


def _blamed(cause: Cause, facts: Mapping[str, Fact]) -> dict[str, float]:
    """How much the facts about each operand speak for a cause, the strongest of each; of two GPUs what is
    on the later one was sent there."""
    found = dict[str, float]()
    for name, fact in facts.items():
        weight, text = cause.weights.get(name, 0.0), fact.values.get("name")
        sent = fact.values.get("device", "cuda:0") not in _DEFAULT
        if text and not sent and weight > found.get(text, 0.0):
            found[text] = weight
    return found


def _edited(
    kind: str, cause: Cause, place: Place | None, scene: Scene, blamed: Mapping[str, float]
) -> Edit | FileEdit | Refused:
    """The edit of the definition where the files tell it, else of a place's line, or why there is none."""
    with contextlib.suppress(Refused):
        made = _of_file(kind, cause, scene)
        return made._replace(file=scene.printed(made.file))
    if place is None:
        return Refused("the report shows no line that it could edit")
    if kind == "move-input" and cause.fixes[0].kind == "move-module":
        return Refused("the module is misplaced: what it is given would leave the GPU")
    met = scene.meeting_at(place)
    if met is None:
        return Refused("the line cannot be parsed")
    try:
        of_line = edit(kind, Site(place, met, scene, blamed))
    except Refused as refused:
        return refused
    suspect = scene.suspect(cause.id)
    own = f"{suspect.name}.device" if suspect is not None and suspect.name.isidentifier() else None
    if own is not None and of_line.after.count(own) > of_line.before.count(own):
        return Refused(f"{own} is where it is misplaced")
    return of_line


def _of_file(kind: str, cause: Cause, scene: Scene) -> FileEdit:
    """The edit of what a suspect of the cause comes from, else of the one call that such a fix edits."""
    suspect, torch = scene.suspect(cause.id), scene.knowledge.torch
    setting = scene.setting(kind, cause.id)
    if suspect is None and setting is None:
        raise Refused("no file tells more")
    from diagnose.fixes.codemods import define
    from diagnose.fixes.codemods.discarded_moves import is_dropped
    from diagnose.fixes.codemods.inputs import entered
    from diagnose.fixes.codemods.peers import twins

    if suspect is not None:
        suspect = _told(suspect, scene)
        left = kind == "move-input" and not is_dropped(suspect)
        if left and (earlier := entered(suspect, torch)) is not suspect:
            with contextlib.suppress(Refused):
                return define(kind, earlier, torch=torch)
        try:
            alone = define(kind, suspect, torch=torch)
        except Refused:
            if setting is None:
                raise
        else:
            others = twins(suspect, scene.suspects, torch)
            return _with_others(kind, suspect, alone, others, torch) or alone
    assert setting is not None
    return define(kind, setting, torch=torch)


#: A GPU that is written down.
_LITERAL = lazy(r"""["']cuda(:\d+)?["']""")


def _with_others(
    kind: str, suspect: Suspect, alone: FileEdit, others: Sequence[Suspect], torch: TorchNames
) -> FileEdit | None:
    """The edit of a suspect and of those of the others that the same fix mends; None where they do not go
    together."""
    from diagnose.fixes.codemods import define

    also, named = list[Suspect](), _LITERAL.search(alone.after) is not None
    for other in others:
        with contextlib.suppress(Refused):
            made = define(kind, other, torch=torch)
            if named or _LITERAL.search(made.after) is None:  # no literal beside an expression
                also.append(other)
    with contextlib.suppress(Refused):
        return define(kind, suspect, *also, torch=torch, aside=True)
    return None


def _told(suspect: Suspect, scene: Scene) -> Suspect:
    """A suspect with the device that the message wants, where the files do not tell it."""
    mismatch = scene.report.mismatch
    if suspect.wanted is not None or mismatch is None or mismatch.expected is None:
        return suspect
    if str(suspect.device) == mismatch.expected:
        # It is there already: the message names its device, and what it met is on an accelerator.
        return suspect._replace(wanted=HOME) if mismatch.expected == "cpu" else suspect
    if suspect.device is None and mismatch.expected == "cpu":
        return suspect  # it may be what is on the cpu
    kind, _, number = mismatch.expected.partition(":")
    known = next((one for one in DeviceType if one.value == kind), DeviceType.OTHER)
    word = kind if known == DeviceType.OTHER else ""
    wanted = Device(known, int(number) if number.isdecimal() else None, word=word)
    # Expressions that were found for a device that nobody knew are of the accelerator, if of any.
    devices = () if kind == "cpu" else suspect.devices
    return suspect._replace(wanted=wanted, devices=devices)


def _fitted(
    one: Considered, cause: Cause, known: Mapping[str, str], facts: Mapping[str, Fact]
) -> Fix:
    """The fix with an edit of the report's line, a command for its program, or the cause's example: the
    first of those that a fact calls for, else the one for all.

    A command that needs what the report does not tell is left out.
    """
    template, place, made, _ = one
    stopgap = _is_stopgap(template.kind, cause)
    if isinstance(made, FileEdit):
        return Fix(template.kind, template.title, made.diff, edit=one.edit, stopgap=stopgap)
    if isinstance(made, Edit) and place is not None:
        diff = patch(place, made)
        return Fix(template.kind, template.title, diff, edit=made, stopgap=stopgap)
    if template.command is not None:
        return Fix(template.kind, template.title, command=fill(template.command, known))
    fitting = (some for some in template.examples if any(f in facts for f in some.shown_with))
    example = _example(next(fitting, template))
    return Fix(template.kind, template.title, code=example, example=example is not None)


def _line_for(kind: str, cause: Cause, scene: Scene) -> Place | None:
    """The line that a fix edits: a library's line for fixes that say so, and only for those."""
    if kind not in _OF_LIBRARIES:
        return scene.line_to_edit(cause.edits)
    site = scene.site
    return None if site is None or site.frame.own else site


def _example(template: FixTemplate | FixExample) -> str | None:
    """The changed code of the cause's example, as lines taken away and added."""
    if template.after is None:
        return None
    before = [f"- {line}" for line in (template.before or "").splitlines()]
    after = [f"+ {line}" for line in template.after.splitlines()]
    return "\n".join([*before, *after])
