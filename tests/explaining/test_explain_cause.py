"""`diagnose explain CAUSE` names each rival beside what speaks for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from diagnose.casebase.store import load
from diagnose.commands.explain import explain
from diagnose.model import Lang


@pytest.mark.parametrize(("lang", "named"), [("en", "More likely {} "), ("zh", "更可能是 {}")])
def test_every_rival_is_named(lang: Lang, named: str, casebase_path: Path) -> None:
    for cause in load(casebase_path, lang).causes.values():
        shown = CliRunner().invoke(explain, [cause.id, "--lang", lang]).output
        assert cause.rather
        words = "".join(shown.split())  # lines end anywhere
        missing = [one for one in cause.rather if named.format(one).replace(" ", "") not in words]
        assert missing == []


def test_a_fix_and_the_wrong_code_stand_in_the_first_thirty_lines(casebase_path: Path) -> None:
    for cause in load(casebase_path, "en").causes.values():
        shown = CliRunner().invoke(explain, [cause.id]).output.splitlines()[:30]
        assert any(line.startswith("1. ") for line in shown)
        assert {"def mistake(devices):", "def fixed(devices):"} <= set(shown), cause.id
