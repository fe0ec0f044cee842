"""What has to hold before a patch that runs is called proven."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff

from diagnose.repairing.model import Candidate, Guard, Level, Proof, Ran, Terms
from diagnose.repairing.running import Runner

#: Fixes that bring something to the host because only the host can work on it.
_FOR_THE_HOST = frozenset({"cpu-before-numpy"})
_NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")
_DEVICE = re.compile(r"\b(?:cpu|cuda(?::\d+)?)\b")
#: How far two numbers may be apart, of their size and as such.
_RELATIVE, _ABSOLUTE = 1e-3, 1e-5


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
        silent, meant = self._unexercised(texts, watched), list(_numbers(wanted, ran))
        guards = [
            *meant,
            *_where(wanted, ran, applied),
            *_copies(wanted, ran),
            *self._elsewhere(texts),
            _again(watched),
            _exercised(silent, applied),
            _no_stopgap(applied),
        ]
        return Proof(_level(meant, guards), tuple(guards), tuple(name for _, _, name in silent))

    def _elsewhere(self, texts: Mapping[str, str]) -> Iterator[Guard]:
        """It runs where the program is meant to: on one GPU, on two, on none."""
        for gpus in (0, 1, 2):
            if gpus == self._gpus:
                continue
            where = {0: "without a GPU", 1: "on one GPU"}.get(gpus, f"on {gpus} GPUs")
            meant = self.on(gpus)
            if not meant.passed:
                yield Guard(f"gpus-{gpus}", None, f"{where} the program itself does not run")
                continue
            ran = self._runner.run(texts, Terms(gpus))
            same = ran.passed and not difference(meant.output, ran.output)
            yield Guard(f"gpus-{gpus}", same, f"{where} it {'runs' if same else 'fails'}")

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
    if not all(guard.holds for guard in meant):
        return "runs"
    return "same-numbers" if any(guard.holds is False for guard in guards) else "proven"


def _numbers(wanted: Ran, ran: Ran) -> Iterator[Guard]:
    """It prints and trains what the program does where devices are not compared."""
    if not wanted.passed:
        yield Guard("output", None, "without device checks the program does not run either")
        return
    other = difference(wanted.output, ran.output)
    yield Guard("output", other is None, other or "it prints the numbers that it was meant to")
    missing = len(wanted.trained) - len(ran.trained)
    if missing > 0:
        yield Guard("trained", False, f"{missing} parameters no longer reach the optimizer")
    elif missing < 0:
        yield Guard("trained", None, f"{-missing} more parameters reach the optimizer than before")
    elif wanted.trained:
        same = all(
            a[0] == b[0] and _close(a[2], b[2])
            for a, b in zip(wanted.trained, ran.trained, strict=True)
        )
        count = len(wanted.trained)
        told = f"all {count} trained parameters end with the values that they were meant to have"
        yield Guard("trained", same, told if same else "parameters end with other values")


def _where(wanted: Ran, ran: Ran, applied: Sequence[Candidate]) -> Iterator[Guard]:
    """What was on a GPU stays on it."""
    gone = [
        name
        for name, device in wanted.homes.items()
        if device.startswith("cuda") and ran.homes.get(name, device) != device
    ]
    if gone:
        yield Guard(
            "homes",
            False,
            f"{gone[0]} ends on {ran.homes[gone[0]]}, it was meant for {wanted.homes[gone[0]]}",
        )
    elif wanted.homes:
        yield Guard("homes", True, "every parameter and buffer ends on the device it was meant for")
    if not wanted.passed or {one.kind for one in applied} & _FOR_THE_HOST:
        return
    fewer = wanted.calls.get("cuda", 0) - ran.calls.get("cuda", 0)
    if fewer > 0:
        yield Guard("on-gpu", False, f"{fewer} operators run on the cpu that were meant for a GPU")
    more = ran.to_host - wanted.to_host
    if more > 0:
        yield Guard("to-host", False, f"{more} more copies go from a GPU to the cpu")
    elif fewer <= 0:
        yield Guard("on-gpu", True, "nothing moves from a GPU to the cpu that did not before")


def _copies(wanted: Ran, ran: Ran) -> Iterator[Guard]:
    """Nothing is misplaced in silence that was not before."""
    known = {(one.kind, one.names) for one in wanted.silent}
    copied = sum(one.kind == "copied" for one in wanted.silent)
    for one in ran.silent:
        if one.kind == "copied" and (copied := copied - 1) < 0:
            yield Guard("copied", False, f"line {one.line} copies the same tensor again and again")
        elif one.kind != "copied" and (one.kind, one.names) not in known:
            yield Guard(one.kind, False, f"in silence: {one.kind}: {', '.join(one.names)}")


def _exercised(silent: Sequence[tuple[str, range, str]], applied: Sequence[Candidate]) -> Guard:
    """Each edit has run."""
    for one in applied:
        for file, lines, name in silent:
            if file == one.file and one.line in lines:
                return Guard("exercised", False, f"the edit in {name} never ran")
    return Guard("exercised", True, "every edited line has run")


def _again(watched: Ran) -> Guard:
    """A second batch passes as the first one does."""
    if watched.passed:
        return Guard("again", True, "each call of a model passes a second time")
    holds = None if watched.failure is None or not watched.failure.placement else False
    return Guard("again", holds, "a second call of a model fails")


def _no_stopgap(applied: Sequence[Candidate]) -> Guard:
    stopgap = next((one for one in applied if one.stopgap), None)
    if stopgap is None:
        return Guard("stopgap", True, "it mends what is wrong where that comes from")
    return Guard("stopgap", False, f"a stop-gap: {stopgap.file}:{stopgap.line} moves what is wrong")


# --- two outputs ---


def difference(wanted: str, got: str) -> str | None:
    """The first line in which two outputs differ by more than devices' names and rounding; None if none
    does."""
    one, two = wanted.splitlines(), got.splitlines()
    for number, (a, b) in enumerate(zip(one, two, strict=False), 1):
        if not _alike(a, b):
            return f"it prints other numbers (line {number}: {b.strip()[:60]!r}, meant: {a.strip()[:60]!r})"
    if len(one) != len(two):
        return f"it prints {len(two)} lines, meant: {len(one)}"
    return None


def _alike(one: str, two: str) -> bool:
    if one == two:
        return True
    one, two = _DEVICE.sub("device", one), _DEVICE.sub("device", two)
    if _NUMBER.sub("#", one).split() != _NUMBER.sub("#", two).split():
        return False
    return all(
        _close(float(a), float(b))
        for a, b in zip(_NUMBER.findall(one), _NUMBER.findall(two), strict=True)
    )


def _close(one: float, two: float) -> bool:
    if one != one or two != two:
        return one != one and two != two
    return abs(one - two) <= max(_ABSOLUTE, _RELATIVE * max(abs(one), abs(two)))


def diff_of(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """One diff of all edited files, from the folder that their paths start in."""
    parts = []
    for file, text in after.items():
        old, new = (t.splitlines(keepends=True) for t in (before[file], text))
        for row in unified_diff(old, new, f"a/{file}", f"b/{file}"):
            parts.append(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n")
    return "".join(parts)
