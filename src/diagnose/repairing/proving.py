"""What has to hold before a patch that runs is called proven."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from diagnose.repairing.comparing import (
    difference,
    differing,
    edited_lines,
    same_values,
    still_trained,
)
from diagnose.repairing.model import Candidate, Guard, Level, Proof, Ran, Terms
from diagnose.repairing.running import Runner

#: Fixes that bring something to the host because it belongs there.
_TO_THE_HOST = frozenset({"cpu-before-numpy", "index-to-device"})
#: Fixes after which more parameters are trained: those that nobody had registered.
_REGISTERING = frozenset({"register-module", "register-buffer"})


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

    def prove(self, texts: Mapping[str, str], ran: Ran, applied: Sequence[Candidate]) -> Proof:
        """Looks at a patch that runs from all sides.

        Args:
            texts: the edited files.
            ran: what the program gives with them.
            applied: the edits.
        """
        wanted = self.on(self._gpus)
        watched = self._runner.run(texts, Terms(self._gpus, watched=True))
        silent, meant = self._unexercised(texts, watched), list(self._numbers(ran, applied))
        guards = [
            *meant,
            *_homes(wanted, ran),
            *_on_gpu(wanted, ran, applied, self._edited(texts)),
            *_silent(wanted, ran),
            *self._elsewhere(texts, numbers=any(guard.holds for guard in meant[:1])),
            _again(watched),
            _exercised(silent, applied),
            _stopgap(applied),
        ]
        return Proof(_level(meant, guards), tuple(guards), tuple(name for _, _, name in silent))

    def _numbers(self, ran: Ran, applied: Sequence[Candidate]) -> Iterator[Guard]:
        """It prints and trains what it was meant to."""
        wanted = self.on(self._gpus)
        if not wanted.passed:
            yield Guard("output", None, "without device checks the program does not run either")
            return
        more = len(ran.trained) - len(wanted.trained)
        registered = more > 0 and any(one.kind in _REGISTERING for one in applied)
        other = self._difference(wanted, ran)
        if other is not None and registered:
            other = f"{other}, for more parameters are trained"
        told = other or "it prints the numbers that it was meant to"
        yield Guard("output", None if other and registered else other is None, told)
        count = len(wanted.trained)
        if more < 0:
            yield Guard("trained", False, f"{-more} parameters no longer reach the optimizer")
        elif more > 0:
            told = f"{more} more parameters reach the optimizer than before"
            yield Guard("trained", registered and still_trained(wanted, ran), told)
        elif count and not same_values(wanted, ran):
            same = None if self._varies() else False
            yield Guard("trained", same, "trained parameters end with other values")
        elif count:
            told = (
                f"all {count} trained parameters end with the values that they were meant to have"
            )
            yield Guard("trained", True, told)

    def _difference(self, wanted: Ran, ran: Ran) -> str | None:
        """Where a run prints something else; lines in which the program differs from itself, such as
        times, are left out."""
        other = difference(wanted.output, ran.output)
        if other is None:
            return None
        first, second = self.on(self._gpus), self._twice()
        return difference(wanted.output, ran.output, set(differing(first.output, second.output)))

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
            where = {0: "without a GPU", 1: "on one GPU"}.get(gpus, f"on {gpus} GPUs")
            meant = self.on(gpus)
            if not meant.passed:
                yield Guard(f"gpus-{gpus}", None, f"{where} the program itself does not run")
                continue
            ran = self._runner.run(texts, Terms(gpus))
            told = "" if ran.passed else (ran.failure.error if ran.failure else "it fails")
            other = told.partition("\n")[0] or None
            if ran.passed and numbers:
                other = self._difference(meant, ran)
            yield Guard(f"gpus-{gpus}", other is None, f"{where}: {other or 'it runs'}")

    def _edited(self, texts: Mapping[str, str]) -> set[str]:
        """The lines of the copies that the edits made, as ``file:line``."""
        workspace = self._runner.workspace
        return {
            f"{workspace.folder / file}:{line}"
            for file, text in texts.items()
            for line in edited_lines(workspace.text(file), text)
        }

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


def _level(meant: Sequence[Guard], guards: Sequence[Guard]) -> Level:
    """``meant`` are the guards of what is computed: one at least has to hold, and none to object."""
    if any(guard.holds is False for guard in meant) or not any(guard.holds for guard in meant):
        return "runs"
    return "same-numbers" if any(guard.holds is False for guard in guards) else "proven"


def _homes(wanted: Ran, ran: Ran) -> Iterator[Guard]:
    """What was on a GPU stays on it."""
    for name, device in wanted.homes.items():
        now = ran.homes.get(name, device)
        if device.startswith("cuda") and now != device:
            yield Guard("homes", False, f"{name} ends on {now}, it was meant for {device}")
            return
    if wanted.homes:
        told = "every parameter and buffer ends on the device that it was meant for"
        yield Guard("homes", True, told)


def _on_gpu(
    wanted: Ran, ran: Ran, applied: Sequence[Candidate], edited: set[str]
) -> Iterator[Guard]:
    """Nothing moves from a GPU to the cpu."""
    if not wanted.passed or any(one.kind in _TO_THE_HOST for one in applied):
        return
    more = ran.calls.get("cpu", 0) - wanted.calls.get("cpu", 0)
    copies = sorted(edited & ran.to_host)
    if more > 0:
        yield Guard("on-gpu", False, f"{more} more operators run on the cpu")
    if copies:
        line = copies[0].rpartition(":")[2]
        yield Guard("to-host", False, f"line {line} copies from a GPU to the cpu")
    if more <= 0 and not copies:
        yield Guard("on-gpu", True, "nothing moves from a GPU to the cpu")


def _silent(wanted: Ran, ran: Ran) -> Iterator[Guard]:
    """Nothing is misplaced in silence that was not before."""
    known = {(one.kind, one.names) for one in wanted.silent}
    copied = sum(one.kind == "copied" for one in wanted.silent)
    for one in ran.silent:
        if one.kind == "copied" and (copied := copied - 1) < 0:
            yield Guard("copied", False, f"line {one.line} copies the same tensor again and again")
        elif one.kind != "copied" and (one.kind, one.names) not in known:
            yield Guard(one.kind, False, f"in silence: {one.kind}: {', '.join(one.names)}")


def _again(watched: Ran) -> Guard:
    """A second batch passes as the first one does."""
    if watched.passed:
        return Guard("again", True, "each call of a model passes a second time")
    holds = None if watched.failure is None or not watched.failure.placement else False
    return Guard("again", holds, "a second call of a model fails")


def _exercised(silent: Sequence[tuple[str, range, str]], applied: Sequence[Candidate]) -> Guard:
    """Each edit has run."""
    for one in applied:
        for file, lines, name in silent:
            if file == one.file and one.line in lines:
                return Guard("exercised", False, f"the edit in {name} never ran")
    return Guard("exercised", True, "every edited line has run")


def _stopgap(applied: Sequence[Candidate]) -> Guard:
    """The edits are where what is wrong comes from."""
    stopgap = next((one for one in applied if one.stopgap), None)
    if stopgap is None:
        return Guard("stopgap", True, "it mends what is wrong where that comes from")
    return Guard("stopgap", False, f"a stop-gap: {stopgap.file}:{stopgap.line} moves what is wrong")
