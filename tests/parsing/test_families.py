"""kb/families.toml: each rule's examples get its family."""

from __future__ import annotations

from typing import Any

import pytest
from parsing.knowledge import KB, families, parse

from diagnose._toml import loads
from diagnose.parsing.families import Families
from diagnose.parsing.lines import Peeled

RULES: list[dict[str, Any]] = loads((KB / "families.toml").read_text())["rule"]
EXAMPLES = [
    (r["id"], r["family"], e, "line" in r.get("types", ()))
    for r in RULES
    for e in r.get("examples", ())
]
READER = Families(families())


@pytest.mark.parametrize(
    ("rule", "family", "example", "line"), EXAMPLES, ids=[e[2][:40] for e in EXAMPLES]
)
def test_example(rule: str, family: str, example: str, line: bool) -> None:
    if line:
        told = READER.of_lines([Peeled(1, example)])
        assert told is not None
        assert told[0] == family
    else:
        kind, _, message = example.partition(": ")
        assert READER.of_error(kind, message) == family


def test_every_pattern_has_an_example() -> None:
    assert [rule["id"] for rule in RULES if "pattern" in rule and not rule.get("examples")] == []


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("ModuleNotFoundError: No module named 'deepspeed'", "missing-module"),
        ("KeyError: 'warmup_steps'", "missing-name"),
        ("AttributeError: 'NoneType' object has no attribute 'shape'", "missing-name"),
        ("ZeroDivisionError: float division by zero", "division-by-zero"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'a.yaml'", "missing-file"),
        ("PermissionError: [Errno 13] Permission denied: '/var/log'", "permission"),
        ("AssertionError", "assertion"),
        ("MemoryError", "host-out-of-memory"),
        ("IndexError: index out of range in self", "bad-value"),
        ("requests.exceptions.ConnectionError: HTTPSConnectionPool(host='x', port=443)", "network"),
        ("RuntimeError: something nobody has ever seen", "other"),
    ],
)
def test_families_of_common_errors(text: str, family: str) -> None:
    error = parse(
        f'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n{text}'
    ).error
    assert error is not None
    assert error.family == family


@pytest.mark.parametrize(
    "log",
    [
        " iteration 10/ 500 | lm loss: 1.2E+00 | loss scale: 1.0 | number of nan iterations: 0 |",
        "NCCL INFO Setting NCCL error handling\nepoch 1 done\nno errors found",
        "INFO device_map='auto' placed the model on cuda:0 and cuda:1",
        "Some parameters are on the meta device because they were offloaded to the cpu.",
        "0 errors, 3 warnings\nError rate: 0.02\nValidationError count 0",
        "",
        "\n\n\n",
    ],
)
def test_healthy_logs_hold_no_error(log: str) -> None:
    assert parse(log).error is None
