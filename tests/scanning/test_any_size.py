"""The same text gets the same answer whatever log it stands in, and nothing that kb/ knows is overlooked."""

from __future__ import annotations

import io
import itertools
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from parsing.knowledge import families, wordings

from diagnose.casebase.store import Casebase
from diagnose.model import FamilyRule, Wording
from diagnose.parsing.families import LINE
from diagnose.parsing.marks import EXCEPTION, LONGEST, TRACEBACK, derive
from diagnose.parsing.search import Search
from diagnose.pipeline import diagnose

ROOT = Path(__file__).parents[1]
FORMS = sorted((ROOT / "parsing" / "forms").glob("*.txt"))
#: A few: what each is answered is tests/test_traces.py's.
TRACES = sorted((ROOT / "traces").rglob("*.txt"))[::5]
#: Documents of their own, which never stand among other lines.
DOCUMENTS = {"notebook", "sentry", "pytest-junit", "cloudwatch-csv", "loki-json", "journald-json"}
#: Ends of jobs of which Python says nothing.
ENDS = (
    "Bus error",
    "[ 4821.5] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.",
    "usage: train.py [-h] --data DATA\ntrain.py: error: unrecognized arguments: --devise cuda:0",
    "Tensor for argument #2 'mat1' is on CPU, but expected it to be on GPU "
    "(while checking arguments for addmm)",
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    "step 0003 | loss = nan",
    "slurmstepd: error: Detected 1 oom_kill event in StepId=12.0.",
    "OSError: [Errno 28] No space left on device",
    "bash: line 1: 2552014 Segmentation fault      (core dumped) python train.py",
)


def log(chance: random.Random) -> Iterator[str]:
    """The lines of a training run that goes well, as loggers, Trainer and tqdm print them."""
    for step in itertools.count():
        kind = chance.random()
        if kind < 0.5:
            yield (
                f"2026-11-21 08:{step // 60 % 60:02}:{step % 60:02} [INFO] trainer: step {step} "
                f"loss {chance.random():.4f} lr {chance.random() * 1e-4:.3e} "
                f"tokens/s {chance.randint(1000, 99999)} memory {chance.randint(9, 79)} GiB"
            )
        elif kind < 0.6:
            done = step % 100
            yield f"\rEpoch 3: {done:3}%|{'█' * (done // 10):10}| {done * 10}/1000 [00:12<01:07, 9.1it/s]"
        elif kind < 0.61:
            yield "warnings.warn: torch.utils.checkpoint: pass use_reentrant explicitly."
        elif kind < 0.62:
            yield f"saved the model's parameters and the optimizer's state to out/checkpoint-{step}"
        else:
            yield f"{{'loss': {chance.random():.4f}, 'grad_norm': {chance.random():.5f}, 'epoch': {step / 9e3:.2f}}}"


@cache
def noise(size: int) -> bytes:
    """So many bytes of whole lines."""
    held: list[bytes] = []
    length = 0
    for line in log(random.Random(7)):
        held.append(line.encode() + b"\n")
        length += len(held[-1])
        if length >= size:
            return b"".join(held)
    raise AssertionError


def answer(data: bytes, casebase: Casebase) -> tuple[str, str | None, str | None]:
    found = diagnose(io.BytesIO(data), casebase=casebase)
    error = found.report.error
    return found.verdict, error and error.type, error and error.family


SHORT, MIDDLE, HALF = 20_000, 800_000, 2_500_000


@pytest.mark.parametrize(
    "path", [*TRACES, *FORMS], ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_a_recorded_text_gets_one_answer(path: Path, casebase: Casebase) -> None:
    text = path.read_bytes().rstrip(b"\n") + b"\n"
    if path.stem in DOCUMENTS:
        at_the_end = answer(noise(SHORT) + text, casebase)
        amid = answer(noise(SHORT) + text + noise(SHORT), casebase)
    else:
        at_the_end = amid = answer(text, casebase)
        assert amid[0] != "no-error"
    assert answer(noise(2 * MIDDLE) + text, casebase) == at_the_end
    assert answer(noise(MIDDLE) + text + noise(MIDDLE), casebase) == amid


@pytest.mark.parametrize("text", ENDS, ids=lambda text: text[-24:])
def test_what_ends_a_job_without_a_traceback_is_found(text: str, casebase: Casebase) -> None:
    alone = answer(text.encode(), casebase)
    assert alone[0] != "no-error"
    assert answer(noise(2 * HALF) + text.encode(), casebase) == alone
    assert answer(noise(2 * HALF) + text.encode() + b"\n", casebase) == alone
    assert answer(noise(HALF) + text.encode() + b"\n" + noise(HALF), casebase) == alone


def test_a_healthy_log_stays_healthy(casebase: Casebase) -> None:
    assert answer(noise(2 * HALF), casebase) == ("no-error", None, None)


def every_literal() -> set[str]:
    found = {x for one in wordings() if one.device_error for x in one.literals}
    return found | {x for rule in families() if LINE in rule.types for x in rule.literals}


def test_no_literal_of_the_case_base_is_overlooked(casebase: Casebase) -> None:
    assert casebase.knowledge.marks is not None
    search = Search(casebase.knowledge.marks)
    missed = [x for x in every_literal() if not search.hits(f"a line: {x}.\n".encode())]
    assert missed == []


def test_marks_are_found_wherever_parts_crowd(casebase: Casebase) -> None:
    """Parts alone are no hits, and hide none."""
    assert casebase.knowledge.marks is not None
    search = Search(casebase.knowledge.marks)
    parts = " ".join(part for part in casebase.knowledge.marks.parts if len(part) > 3).encode() * 9
    sparse = b"".join(part.encode() + b" " * 3000 for part in casebase.knowledge.marks.parts)
    for around in (parts, sparse):
        ours = b"\nBus error\n"
        block = around + ours + around
        places = {start for _, start, _ in search.hits(block)}
        assert block.index(b"us error") in places


def test_a_new_wording_brings_its_marks() -> None:
    plain = Wording("x", "Zorglub", ("Zorglub refused the tensor", "qu"), "RuntimeError", "x", "1")
    rule = FamilyRule("y", "crash", "flux", ("flux compensator",), (LINE,))
    marks = derive([plain], [rule])
    assert set(marks.wordings) == {"Zorglub refused the tensor", "qu"}
    assert marks.rules == (("flux compensator",),)
    search = Search(marks)
    assert [search.kinds[hit[0]] for hit in search.hits(b"a qu b Zorglub refused the tensor")] == [
        2,
        2,
    ]
    assert [search.kinds[hit[0]] for hit in search.hits(b"the flux compensator broke")] == [3]
    assert search.hits(b"Zorglub is well, so is the flux") == []
    long = Wording("z", "a", ("é" * 300,), "RuntimeError", "x", "1")
    assert search.seam < 4 * LONGEST
    assert Search(derive([long], [])).hits(("é" * 300).encode())


def test_the_case_base_holds_the_marks_of_its_kb(casebase: Casebase) -> None:
    marks = derive(wordings(), families())
    assert casebase.knowledge.marks is not None
    assert [list(of) for of in casebase.knowledge.marks.rules] == [list(of) for of in marks.rules]
    assert tuple(casebase.knowledge.marks.wordings) == marks.wordings
    assert tuple(casebase.knowledge.marks.parts) == marks.parts
    # Few enough for a handful of passes.
    assert len(marks.parts) + len(TRACEBACK) + len(EXCEPTION) <= 96
