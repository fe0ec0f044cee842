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
        assert [rival for rival in cause.rather if named.format(rival) not in shown] == []
