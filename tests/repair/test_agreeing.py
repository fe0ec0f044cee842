"""Two who know nothing of each other: the answer to a failure, and the run of an edit."""

from __future__ import annotations

from difflib import unified_diff

import pytest
from repair.guards import guards_of_run, in_english

from diagnose.model import Diagnosis, Frame, RankedCause, Report
from diagnose.repair.comparison import diff_of
from diagnose.repair.model import Candidate, Guard, Proof, Ran, Source, objection, said
from diagnose.repair.synthesis.agreement import agreeing
from diagnose.repair.validation.patch_edits import agreed
from diagnose.repair.verification.levels import level_of, unopposed

ROWS = [f"x{number} = {number}\n" for number in range(1, 21)]


def edit(
    *rows: str,
    line: int,
    cause: str = "input-not-moved",
    source: Source = "answer",
    add: bool = False,
) -> Candidate:
    """An edit that puts rows in the place of a line, or before it."""
    after = [*ROWS]
    after[line - 1 : line - (1 if add else 0)] = [f"{row}\n" for row in rows]
    patch = "".join(unified_diff(ROWS, after, "a/train.py", "b/train.py"))
    return Candidate(cause, "", "move-input", "", "train.py", line, patch, source=source)


def answer(
    confidence: float = 0.99, line: int | None = None, cause: str = "input-not-moved"
) -> Diagnosis:
    likeliest = RankedCause(cause, "", "", confidence, (), (), (), "")
    other = RankedCause("module-not-moved", "", "", 0.01, (), (), (), "")
    culprit = Frame("/copy/train.py", line) if line is not None else None
    return Diagnosis(Report("log"), "diagnosed", culprit, (likeliest, other))


def agrees(told: Diagnosis, *found: Candidate) -> list[bool]:
    proposed = [one for one in found if one.source == "answer"]
    made = agreeing(found, told, proposed, lambda file: file.rpartition("/")[2])
    return [one.agrees for one in made]


def test_what_the_likeliest_cause_edits_is_agreed_upon() -> None:
    of_answer = edit("x9 = moved(9)", line=9)
    same = edit("x9 = other(9)", line=9, source="origins")
    before = edit("y = 9", line=9, source="values", add=True)
    elsewhere = edit("x4 = moved(4)", line=4, source="values")
    assert agrees(answer(), of_answer, same, before, elsewhere) == [True, True, True, False]


def test_a_cause_that_is_not_the_likeliest_does_not_count() -> None:
    first, second = (
        edit("x9 = moved(9)", line=9),
        edit("x4 = moved(4)", line=4, cause="module-not-moved"),
    )
    assert agrees(answer(), first, second) == [True, False]


@pytest.mark.parametrize(
    ("confidence", "line", "expected"), [(0.97, 4, True), (0.6, 4, False), (0.97, 5, False)]
)
def test_where_a_sure_answer_edits_nothing_its_line_counts(
    confidence: float, line: int, expected: bool
) -> None:
    assert agrees(answer(confidence, line), edit("x4 = moved(4)", line=4, source="values")) == [
        expected
    ]


def test_an_answer_without_causes_contradicts_nothing() -> None:
    nothing = Diagnosis(Report("log"), "unknown")
    assert agrees(nothing, edit("x4 = moved(4)", line=4, source="values")) == [True]


def test_what_is_not_agreed_upon_passes_and_is_not_proven() -> None:
    one = edit("x4 = moved(4)", line=4)
    text, ran, apart = "".join(ROWS), Ran(0), one._replace(agrees=False)
    assert not guards_of_run(agreed, ran, [one], text=text)
    assert guards_of_run(agreed, ran, [apart], text=text)[0].sentence.count("train.py:4")
    found = objection("agreed", "agreed", file="train.py", line=4)
    made = apart._replace(kind="create-on-device")
    assert not guards_of_run(agreed, ran, [made], text=text), "it is made there"
    kept = "class A:\n    def f(self):\n        self.a = self.a.to(device)\n"
    for device, guards in (("device", 0), ("x.device", 1)):  # beside its like, or not
        more = f"{kept}        self.b = self.b.to({device})\n"
        other = apart._replace(patch=diff_of({"train.py": kept}, {"train.py": more}))
        assert len(guards_of_run(agreed, ran, [other], text=kept)) == guards
    named = apart._replace(cause="dataparallel-home-device")
    assert not guards_of_run(agreed, ran, [named], text=text), "torch says what has to move"
    output = Guard("output", True, said("output"))
    assert level_of([output]) == "proven"
    assert level_of([output, found]) == "passes"
    assert level_of([output, found, objection("homes", "homes")]) == "same-numbers"
    assert level_of([objection("output", "output"), found]) == "runs"


@pytest.mark.parametrize(
    ("row", "more", "level"),
    [
        ("    wave = net(wave).detach().cpu()", [], "proven"),
        ("    out = stage(x.to(next(stage.parameters()).device))", [], "proven"),
        ("        self.teacher = self.teacher.to(x.device)", [], "passes"),
        ("        self.net.target.to(x.device)", [], "passes"),
        ("            self.extra = self.extra.to(self.device)", [], "proven"),
        ("    wave = net(wave).detach().cpu()", ["taken"], "passes"),
        ("    wave = net(wave).detach().cpu()", ["homes"], "same-numbers"),
    ],
)
def test_where_nothing_better_was_found_the_run_is_the_witness(
    row: str, more: list[str], level: str
) -> None:
    guards = [
        Guard("output", True, said("output")),
        objection("agreed", "agreed", file="train.py", line=4),
    ]
    guards += [objection(one, one) for one in more]
    found = unopposed(Proof(level_of(guards), tuple(guards)), [row])
    assert found.level == level
    (told,) = (one for one in found.guards if one.id == "agreed")
    assert (told.holds, "nothing better was found" in in_english(told).sentence) == (
        (None, True) if level == "proven" else (False, False)
    )
