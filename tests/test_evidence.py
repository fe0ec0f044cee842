"""Every claim of an answer has its evidence, and every evidence stands where it says, in the input.

A sentence of kb/facts.toml names what it rests on (a line of code, a file and line, a line of the log, devices,
the message); the test takes those out of the printed sentence and looks for them at the line of the input that
is given with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from diagnose import facts
from diagnose.authoring.examples import examples
from diagnose.casebase.store import Casebase
from diagnose.compiling.kbfile import files
from diagnose.model import Diagnosis, Evidence, RankedCause, Report
from diagnose.parsing import parse
from diagnose.pipeline import diagnose
from diagnose.placeholders import sentence
from diagnose.scene import Scene

HERE = Path(__file__).parent
RECORDED = sorted([*HERE.glob("traces/*.txt"), *HERE.glob("traces/causes/*.txt")])
INCIDENTS = sorted(HERE.parent.glob("kb/cases/*/trace.txt"))
FORMS = sorted(path for path in HERE.glob("parsing/forms/*") if path.is_file())

#: A cause below this confidence is named for completeness, not claimed.
CLAIMED = 0.3


def named(path: Path) -> str:
    return path.parent.name if path.stem == "trace" else path.stem


@pytest.fixture(params=[*RECORDED, *INCIDENTS], ids=named, scope="module")
def answered(request: pytest.FixtureRequest, casebase: Casebase) -> tuple[str, Diagnosis]:
    text = request.param.read_text(encoding="utf-8")
    return text, diagnose(text, request.param.name, casebase=casebase)


def claimed(answer: Diagnosis) -> list[RankedCause]:
    return [cause for n, cause in enumerate(answer.causes) if n == 0 or cause.confidence >= CLAIMED]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_every_claim_in_any_printed_form_has_evidence(path: Path, casebase: Casebase) -> None:
    data = path.read_bytes()
    answer = diagnose(data, path.name, casebase=casebase)
    for cause in claimed(answer):
        assert cause.evidence, cause.id
        for evidence in cause.evidence:
            assert evidence.line is None or 1 <= evidence.line <= data.count(b"\n") + 1


def test_every_claim_has_evidence_that_stands_in_the_input(
    answered: tuple[str, Diagnosis], casebase: Casebase
) -> None:
    text, answer = answered
    assert [cause.id for cause in claimed(answer) if not cause.evidence] == []
    wrong = []
    for cause in answer.causes:
        for evidence in cause.evidence:
            readings = list(values(evidence, casebase))
            assert readings, evidence.text
            if not any(stands(reading, evidence, text, answer.report) for reading in readings):
                wrong.append((cause.id, evidence.line, evidence.text))
    assert wrong == []


def test_every_fact_stands_in_the_example_that_shows_it(casebase: Casebase) -> None:
    """Also of a fact that no recorded traceback shows just now."""
    for example in examples(files(HERE.parent / "kb")):
        if example.shows:
            report = parse(example.report, knowledge=casebase.knowledge)
            fact = facts.read(Scene(report, casebase.knowledge))[example.fact]
            text = sentence(casebase.knowledge.facts[fact.id].text, fact.values)
            assert fact.line is not None and 1 <= fact.line <= len(example.report.splitlines())
            said = Evidence(text, fact.line)
            readings = list(values(said, casebase))
            assert any(stands(one, said, example.report, report) for one in readings), said


def test_a_claim_that_does_not_stand_there_is_noticed(casebase: Casebase) -> None:
    """The check itself: the same sentence with another line, number or quotation does not pass."""
    path = HERE / "traces/causes/tablature-positions.txt"
    text = path.read_text(encoding="utf-8")
    report = parse(text, knowledge=casebase.knowledge)
    at = next(frame.at for frame in report.frames if frame.function == "forward" and frame.own)
    rule = casebase.knowledge.facts["uses-own-attribute"].text
    code = "hidden = hidden + self.positions[: hidden.size(1)]"

    def passes(name: str, quoted: str, line: int | None) -> bool:
        said = Evidence(rule.format(name=name, code=quoted), line)
        return any(stands(one, said, text, report) for one in values(said, casebase))

    assert at is not None
    assert passes("self.positions", code, at)
    assert not passes("self.positions", code, 1)
    assert not passes("self.positions", code, None)
    assert not passes("self.frets", code, at)
    assert not passes("self.positions", code.replace("1", "2"), at)
    assert not passes("self.positions", code, len(text.splitlines()) + 1)


# --- reading a sentence back ----------------------------------------------------------------------

FIELD = re.compile(r"\{(\w+)\}")
NUMBERS = {"line": r"\d+|\?", "rank": r"\d+", "depth": r"\d+", "count": r"\d+"}


def values(evidence: Evidence, casebase: Casebase) -> Iterator[dict[str, str]]:
    """What the sentence says, by the name of its place, for each fact whose sentence it can be."""
    for rule in casebase.knowledge.facts.values():
        if match := pattern(rule.text).fullmatch(evidence.text):
            yield match.groupdict()


@cache
def pattern(sentence: str) -> re.Pattern[str]:
    """What a fact's sentence matches, each of its places by name."""
    seen: set[str] = set()
    found = ""
    for n, piece in enumerate(FIELD.split(sentence)):
        if n % 2 == 0:
            found += re.escape(piece)
        elif piece in seen:
            found += f"(?P={piece})"
        else:
            seen.add(piece)
            found += f"(?P<{piece}>{NUMBERS.get(piece, '.+?')})"
    return re.compile(found, re.DOTALL)


def squeezed(text: str) -> str:
    """Letters, digits and points only: boxes, marks, prefixes and line breaks do not matter."""
    return re.sub(r"[^\w.]", "", text)


def around(line: int, lines: list[str], report: Report) -> str:
    """What stands at a line of the input: the entry of the traceback that it names, or else the rest of
    the failure's message, or the line alone."""
    named = sorted({frame.at for frame in report.frames if frame.at is not None})
    error = report.error.at if report.error else None
    if line in named:
        before = max((at for at in named if at < line), default=0)
        after = min((at for at in named if at > line), default=len(lines) + 1)
        return "\n".join(lines[before : after - 1])
    if line == error:
        return "\n".join(lines[line - 1 :])
    return lines[line - 1]


def stands(said: dict[str, str], evidence: Evidence, text: str, report: Report) -> bool:
    """Whether all that the sentence names is found at its line; without a line it must name nothing that
    stands in one."""
    lines = text.splitlines()
    if evidence.line is None:
        return not {"code", "file", "text", "message"} & set(said)
    if not 1 <= evidence.line <= len(lines):
        return False
    place = around(evidence.line, lines, report)
    if "file" in said:
        frame = next((f for f in report.frames if f.at == evidence.line), None)
        if frame is None or not frame.file.replace("\\", "/").endswith(said["file"].lstrip("/")):
            return False
        if said.get("line", "?") != "?" and said["line"] != str(frame.line):
            return False
        if squeezed(said["file"].rsplit("/", 1)[-1]) not in squeezed(place):
            return False
    error = report.error
    message = "\n".join(lines[error.at - 1 :]) if error and error.at else text
    for name in ("code", "text", "name", "index", "function", "rank", "line"):
        quoted = said.get(name, "?")
        if quoted != "?" and squeezed(quoted.rstrip("…")) not in squeezed(place):
            return False
    if squeezed(said.get("message", "").rstrip("…")) not in squeezed(message):
        return False
    devices = [said[key] for key in ("devices", "found", "expected", "other") if key in said]
    return all(printed(device, text) for pair in devices for device in pair.split(" / "))


def printed(device: str, text: str) -> bool:
    """Whether the text names the device, in one of the ways in which messages print devices."""
    if device == "another device":  # no message named one
        return True
    if device == "GPU":
        return device in text or "torch.cuda." in text
    kind, _, index = device.partition(":")
    return device in text or f"device(type='{kind}', index={index})" in text
