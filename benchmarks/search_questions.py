"""How often `diagnose explain` finds the incident that a question is about: first, and among three.

    python benchmarks/search_questions.py [-v] [FILE ...]

A FILE (tests/casebase/questions.toml if none is named) holds questions as people type them, each labelled
with its incident by somebody who wrote neither the incident's texts nor the search:

    [[question]]
    incident = "skyrl-ref-worker-inv-freq"    # or a list of ids, where several are right
    language = "en"                           # or "zh"
    text = "reference logprobs are nan on every worker but rank 0"

``-v`` tells each question that is not answered first, with what was. Who improves the search reads none of
that for the questions which are to judge it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from diagnose._toml import loads
from diagnose.casebase.search import search
from diagnose.casebase.store import Casebase, load

FILE = Path(__file__).parents[1] / "tests/casebase/questions.toml"
_TOP = 10


class Question(NamedTuple):
    """What somebody types, in which language, and the incidents that are right."""

    text: str
    language: str
    incidents: tuple[str, ...]


class Found(NamedTuple):
    """A question, the place of the right incident from 1 (None: not among the first ten), what came
    first, and the time."""

    question: Question
    place: int | None
    first: str
    seconds: float


def questions(path: Path) -> list[Question]:
    """The questions of a file, in the form that this module's docstring shows."""
    entries = loads(path.read_text(encoding="utf-8"))["question"]
    return [Question(one["text"], one["language"], _ids(one["incident"])) for one in entries]


def _ids(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def asked(some: Sequence[Question], casebases: Sequence[Casebase]) -> Iterator[Found]:
    """What the search finds for each question, its language's case base first."""
    for one in some:
        order = sorted(casebases, key=lambda base: base.lang != one.language)
        start = time.perf_counter()
        hits = [hit.id for hit in search(one.text, order, top=_TOP)]
        seconds = time.perf_counter() - start
        place = next((n for n, key in enumerate(hits, 1) if key in one.incidents), None)
        yield Found(one, place, hits[0] if hits else "nothing", seconds)


def table(found: Sequence[Found]) -> str:
    """By language, and over all: how many were asked, and of how many the right one came how early."""
    lines = [f"{'language':10}{'asked':>7}{'first':>7}{'in 3':>7}{'in 10':>7}{'1/place':>9}"]
    languages = sorted({one.question.language for one in found})
    for name in (*languages, "all"):
        rows = [one for one in found if name in ("all", one.question.language)]
        places = [one.place for one in rows]
        early = [sum(place is not None and place <= most for place in places) for most in (1, 3)]
        mean = statistics.fmean(1 / place if place else 0.0 for place in places)
        ten = sum(place is not None for place in places)
        lines.append(f"{name:10}{len(rows):7}{early[0]:7}{early[1]:7}{ten:7}{mean:9.3f}")
    median = statistics.median(one.seconds for one in found) * 1000
    return "\n".join([*lines, f"median {median:.0f} ms a search"])


def main() -> None:
    """Prints the table, and what is no incident of the case base."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, default=[FILE])
    parser.add_argument("-v", "--verbose", action="store_true", help="tell what is not first")
    arguments = parser.parse_args()
    casebases = [load(lang="en"), load(lang="zh")]
    some = [one for path in arguments.files for one in questions(path)]
    known = set(casebases[0].incidents)
    if strange := sorted({key for one in some for key in one.incidents} - known):
        print(f"no incidents of this case base: {', '.join(strange)}")
    found = list(asked(some, casebases))
    if arguments.verbose:
        for one in found:
            if one.place != 1:
                print(f"{one.place or '-':>3}  {one.question.text}")
                print(f"     {', '.join(one.question.incidents)}; first: {one.first}")
    print(table(found))


if __name__ == "__main__":
    main()
