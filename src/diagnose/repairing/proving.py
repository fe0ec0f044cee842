"""What has to hold before a patch that runs is called proven."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from diagnose.model import Lang
from diagnose.repairing.comparing import (
    difference,
    differing,
    edited_lines,
    same_values,
    still_trained,
)
from diagnose.repairing.model import Candidate, Guard, Level, Proof, Ran, Terms
from diagnose.repairing.running import Runner
from diagnose.repairing.words import say

#: Fixes that bring something to the host because it belongs there.
_TO_THE_HOST = frozenset({"cpu-before-numpy", "index-to-device"})
#: Fixes of a value where it is used. Other stop-gaps undo an offload or leave layers unregistered.
_AT_USE = frozenset({"move-tensor-at-line", "move-input", "index-to-device"})
#: Fixes after which more parameters are trained: those that nobody had registered.
_REGISTERING = frozenset({"register-module", "register-buffer"})
#: Checks of `diagnose verify` whose findings are mistakes even where the program without device checks
#: has them too: what no optimizer reaches stays untrained wherever it is.
_NEVER = frozenset({"unseen-layers"})
#: A GPU other than the first.
_NUMBERED = re.compile(r"\bcuda:[1-9]\d*")


class Reference:
    """The same program without device checks: what its author meant it to compute.

    Args:
        runner: runs the program.
        gpus: how many GPUs the program fails on.
    """

    def __init__(self, runner: Runner, gpus: int) -> None:
        self._runner = runner
        self._gpus = gpus
        self._ran: dict[int, Ran] = {}
        self._second: Ran | None = None

    def on(self, gpus: int) -> Ran:
        """The program as it was, on so many GPUs, with nothing compared."""
        if gpus not in self._ran:
            self._ran[gpus] = self._runner.run({}, Terms(gpus, checked=False))
        return self._ran[gpus]

    def doubts(self, texts: Mapping[str, str], ran: Ran, applied: Sequence[Candidate]) -> Proof:
        """What the run of a patch itself tells against it; nothing more is run for that.

        Args:
            texts: the edited files.
            ran: what the program gives with them.
            applied: the edits.
        """
        guards = tuple(self._seen(texts, ran, applied))
        return Proof(_level(guards), guards, whole=False)

    def prove(self, texts: Mapping[str, str], ran: Ran, applied: Sequence[Candidate]) -> Proof:
        """Looks at a patch that runs from all sides. Takes what `doubts` does."""
        lang = self._runner.lang
        watched = self._runner.run(texts, Terms(self._gpus, watched=True))
        silent, seen = self._unexercised(texts, watched), list(self._seen(texts, ran, applied))
        right = any(guard.id == "output" and guard.holds for guard in seen)
        guards = (
            *seen,
            *self._elsewhere(texts, numbers=right),
            _again(watched, lang),
            _exercised(silent, applied, lang),
        )
        return Proof(_level(guards), guards, tuple(name for _, _, name in silent))

    def _seen(
        self, texts: Mapping[str, str], ran: Ran, applied: Sequence[Candidate]
    ) -> Iterator[Guard]:
        wanted, lang = self.on(self._gpus), self._runner.lang
        yield from self._numbers(ran, applied)
        yield from _homes(wanted, ran, lang)
        yield from _on_gpu(wanted, ran, applied, self._edited(texts), lang)
        yield from _silent(wanted, ran, lang)
        yield from self._numbered(texts)
        yield _stopgap(applied, lang)

    def _numbers(self, ran: Ran, applied: Sequence[Candidate]) -> Iterator[Guard]:
        """It prints and trains what it was meant to."""
        wanted = self.on(self._gpus)
        if not wanted.passed:
            yield Guard("output", None, self._say("no-reference"))
            return
        more = len(ran.trained) - len(wanted.trained)
        registered = more > 0 and any(one.kind in _REGISTERING for one in applied)
        other = self._difference(wanted, ran)
        if other is not None and registered:
            other = self._say("more-trained-so", other=other)
        told = other or self._say("output")
        yield Guard("output", None if other and registered else other is None, told)
        count = len(wanted.trained)
        if more < 0:
            yield Guard("trained", False, self._say("fewer-trained", count=-more))
        elif more > 0:
            told = self._say("more-trained", count=more)
            yield Guard("trained", registered and still_trained(wanted, ran), told)
        elif count and not same_values(wanted, ran):
            same = None if self._varies() else False
            yield Guard("trained", same, self._say("trained-otherwise"))
        elif count:
            yield Guard("trained", True, self._say("trained", count=count))
        if (cut := wanted.graded - ran.graded) > 0:
            yield Guard("gradients", False, self._say("gradients-cut", count=cut))

    def _difference(self, wanted: Ran, ran: Ran) -> str | None:
        """Where a run prints something else; lines in which the program differs from itself, such as
        times, are left out."""
        if difference(wanted.output, ran.output) is None:
            return None
        first, second = self.on(self._gpus), self._twice()
        varying = set(differing(first.output, second.output))
        return difference(wanted.output, ran.output, varying, self._runner.lang)

    def _say(self, name: str, **values: object) -> str:
        return say(self._runner.lang, name, **values)

    def _varies(self) -> bool:
        """Whether the program does not train twice to the same values: its threads race."""
        return not same_values(self.on(self._gpus), self._twice())

    def _twice(self) -> Ran:
        if self._second is None:
            self._second = self._runner.run({}, Terms(self._gpus, checked=False))
        return self._second

    def _elsewhere(self, texts: Mapping[str, str], *, numbers: bool) -> Iterator[Guard]:
        """It runs where the program is meant to: on one GPU, on two, on none; and prints the same
        ``numbers``, if it does where the program fails."""
        for gpus in (0, 1, 2):
            if gpus == self._gpus:
                continue
            where = self._say(f"where-{gpus}")
            meant = self.on(gpus)
            if not meant.passed:
                yield Guard(f"gpus-{gpus}", None, self._say("not-there-either", where=where))
                continue
            ran = self._runner.run(texts, Terms(gpus))
            error = ran.failure.error if ran.failure else self._say("it-fails")
            other = None if ran.passed else error.partition("\n")[0]
            if ran.passed and numbers:
                other = self._difference(meant, ran)
            told = other or self._say("it-runs")
            yield Guard(f"gpus-{gpus}", other is None, self._say("there", where=where, told=told))

    def _edited(self, texts: Mapping[str, str]) -> set[str]:
        """The lines of the copies that the edits made, as ``file:line``."""
        workspace = self._runner.workspace
        return {
            f"{workspace.folder / file}:{line}"
            for file, text in texts.items()
            for line in edited_lines(workspace.text(file), text)
        }

    def _numbered(self, texts: Mapping[str, str]) -> Iterator[Guard]:
        """No edit writes down another GPU than the first by its number, unless the program does too, or did
        so in that line: on another machine, or in another rank, that is another one or none."""
        for file, text in texts.items():
            before = self._runner.workspace.text(file)
            known = set(_NUMBERED.findall(before))
            gone = edited_lines(text, before)
            if any("cuda:" in before.splitlines()[line - 1] for line in gone):
                continue
            for line in sorted(edited_lines(before, text)):
                for device in _NUMBERED.findall(text.splitlines()[line - 1]):
                    if device not in known:
                        told = self._say("numbered", line=line, device=device)
                        yield Guard("numbered", False, told)
                        return

    def _unexercised(self, texts: Mapping[str, str], watched: Ran) -> list[tuple[str, range, str]]:
        """Functions of the edited files that never ran: file, lines, and how they are called."""
        found = []
        for file, text in texts.items():
            path = self._runner.workspace.folder / file
            for node in ast.walk(ast.parse(text)):
                if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    continue
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                if f"{path}:{first}" not in watched.executed:
                    lines = range(first, (node.end_lineno or first) + 1)
                    found.append((file, lines, f"{node.name} ({file}:{node.lineno})"))
        return found


def settled(proof: Proof, lang: Lang) -> Proof:
    """A proof after all else was tried: a move where a value is used is a stop-gap as long as there may be
    something better, and else the mend that there is."""
    guards = tuple(
        guard._replace(holds=None, sentence=say(lang, "settled", told=guard.sentence))
        if guard.id == "stopgap" and guard.holds is False
        else guard
        for guard in proof.guards
    )
    return proof._replace(level=_level(guards), guards=guards)


#: The guards of what is computed.
_MEANT = frozenset({"output", "trained"})


def _level(guards: Sequence[Guard]) -> Level:
    """Of the guards of what is computed one at least has to hold, and none to object."""
    meant = [guard.holds for guard in guards if guard.id in _MEANT]
    if False in meant or True not in meant:
        return "runs"
    return "same-numbers" if any(guard.holds is False for guard in guards) else "proven"


def _homes(wanted: Ran, ran: Ran, lang: Lang) -> Iterator[Guard]:
    """What was on a GPU stays on it."""
    for name, device in wanted.homes.items():
        now = ran.homes.get(name, device)
        if device.startswith("cuda") and now != device:
            told = say(lang, "home-moved", name=name, now=now, device=device)
            yield Guard("homes", False, told)
            return
    if wanted.homes:
        yield Guard("homes", True, say(lang, "homes"))


def _on_gpu(
    wanted: Ran, ran: Ran, applied: Sequence[Candidate], edited: set[str], lang: Lang
) -> Iterator[Guard]:
    """Nothing moves from a GPU to the cpu, but what a fix brings there because it belongs there."""
    bringing = [one for one in applied if one.kind in _TO_THE_HOST]
    if not wanted.passed or len(bringing) == len(applied):
        return
    allowed = {str(one.line) for one in bringing}
    more = ran.calls.get("cpu", 0) - wanted.calls.get("cpu", 0)
    copies = [line for one in sorted(edited & ran.to_host) if (line := _line(one)) not in allowed]
    if more > 0:
        yield Guard("on-gpu", False, say(lang, "more-on-cpu", count=more))
    if copies:
        yield Guard("to-host", False, say(lang, "copies-to-cpu", line=copies[0]))
    if more <= 0 and not copies:
        yield Guard("on-gpu", True, say(lang, "on-gpu"))


def _line(place: str) -> str:
    return place.rpartition(":")[2]


def _silent(wanted: Ran, ran: Ran, lang: Lang) -> Iterator[Guard]:
    """Nothing is misplaced in silence that was not before, and nothing is left untrained."""
    known = {(one.kind, one.names) for one in wanted.silent if one.kind not in _NEVER}
    copied = sum(one.kind == "copied" for one in wanted.silent)
    for one in ran.silent:
        if one.kind == "copied" and (copied := copied - 1) < 0:
            yield Guard("copied", False, say(lang, "copied", line=one.line))
        elif one.kind != "copied" and (one.kind, one.names) not in known:
            told = one.said or say(lang, "silent", kind=one.kind, names=", ".join(one.names))
            yield Guard(one.kind, False, told)


def _again(watched: Ran, lang: Lang) -> Guard:
    """A second batch passes as the first one does."""
    if watched.passed:
        return Guard("again", True, say(lang, "again"))
    holds = None if watched.failure is None or not watched.failure.placement else False
    return Guard("again", holds, say(lang, "again-fails"))


def _exercised(
    silent: Sequence[tuple[str, range, str]], applied: Sequence[Candidate], lang: Lang
) -> Guard:
    """Each edit has run."""
    for one in applied:
        for file, lines, name in silent:
            if file == one.file and one.line in lines:
                return Guard("exercised", False, say(lang, "never-ran", name=name))
    return Guard("exercised", True, say(lang, "exercised"))


def _stopgap(applied: Sequence[Candidate], lang: Lang) -> Guard:
    """The edits are where what is wrong comes from, and give nothing up that is done on purpose."""
    stopgaps = [one for one in applied if one.stopgap]
    for one in stopgaps:
        if one.kind not in _AT_USE:
            told = say(lang, "gives-up", file=one.file, line=one.line)
            return Guard("gives-up", False, told)
    for one in stopgaps:
        return Guard("stopgap", False, say(lang, "stopgap", file=one.file, line=one.line))
    return Guard("stopgap", True, say(lang, "at-source"))
