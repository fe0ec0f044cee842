"""The key of a failure: the same incident as another run prints it has it, no other incident does."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from memory.conftest import CASES
from memory.variants import variants

from diagnose.casebase.store import Casebase, load
from diagnose.memory.key import Key, agreeing, digests, exact, key, masked
from diagnose.model import Report
from diagnose.parsing import parse as parse_with

PLAIN = (Path(__file__).parents[1] / "parsing" / "forms" / "cpython.txt").read_text()
#: Every seventh incident: what is held here is a share, and each takes a dozen readings.
SOME = sorted(CASES.glob("*/trace.txt"))[::7]


def parse(text: str) -> Report:
    return parse_with(text, knowledge=load().knowledge)


@pytest.mark.parametrize(
    ("old", "new", "equal"),
    [
        ("cuda:1", "cuda:5", True),
        ("line 9", "line 900", True),
        ("/home/user/proj/", "/mnt/data/other/", True),
        ("RuntimeError", "ValueError", False),
        ("in train_step", "in eval_step", False),
        ("and cpu!", "and meta!", False),
    ],
)
def test_what_makes_failures_equal(old: str, new: str, equal: bool) -> None:
    assert old in PLAIN
    changed = parse(PLAIN.replace(old, new))
    assert (key(changed).digest == key(parse(PLAIN)).digest) is equal


def test_messages_are_masked() -> None:
    one = masked(
        "cannot open /tmp/run-17/part.bin at 0x7f3a: 5 of 9 (0f8fad5b-d9cb-469f-a165-70867728950e)"
    )
    assert one == "cannot open /# at #: # of # (#)"


def test_the_same_incident_in_another_run_has_the_same_key() -> None:
    same = total = 0
    for path in SOME:
        text = path.read_text(encoding="utf-8")
        report = parse(text)
        if report.error is None:
            continue
        for _, other in variants(text):
            found = parse(other)
            same += found.error is not None and key(found).digest == key(report).digest
            total += 1
    assert total > 400
    assert same / total >= 0.95


def test_other_incidents_have_other_keys(casebase: Casebase) -> None:
    keys = {}
    for path in sorted(CASES.glob("*/trace.txt")):
        report = parse(path.read_text(encoding="utf-8"))
        if report.error is not None:
            keys[path.parent.name] = key(report).digest
    pairs = list(combinations(keys.values(), 2))
    causes = {id: incident.cause for id, incident in casebase.incidents.items()}
    alike = [(one, two) for one, two in combinations(keys, 2) if causes[one] == causes[two]]
    assert len(alike) > 1000
    assert sum(keys[one] == keys[two] for one, two in alike) / len(alike) <= 0.01
    assert sum(one == two for one, two in pairs) / len(pairs) <= 0.001


def test_a_message_alone_is_known_by_its_words() -> None:
    texts = (
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
        f"cuda:0 and cpu! (when checking argument for argument {name} in method wrapper_CUDA_{op})"
        for name, op in (("mat1", "addmm"), ("index", "_index_select"))
    )
    one, two = (key(parse(text)).digest for text in texts)
    assert one != two


def test_the_narrower_key_comes_first_and_holds_the_message() -> None:
    report = parse(PLAIN)
    (first, _), (second, _) = digests(report)
    assert (first, second) == (exact(report, key(report)), key(report).digest)
    other = parse(PLAIN.replace("argument mat2 in", "argument weight in"))
    assert key(other).digest == second
    assert exact(other, key(other)) != first


def test_facts_that_say_nothing_do_not_agree() -> None:
    one = Key("E", "cpu cuda", (), "", ())
    assert agreeing(one, one._replace(said="cpu")) == ("error",)
