"""A finding that holds only once an option names another GPU says so."""

from __future__ import annotations

from pathlib import Path

from diagnose.casebase.store import load
from diagnose.checking.checking import check
from diagnose.checking.model import Options
from diagnose.model import Lang

PROGRAM = Path(__file__).parent / "rules/hardcoded-device/option_names_another.in.py"


def said(lang: Lang) -> str:
    rules = frozenset(rule.id for rule in load().checks())
    (finding,) = check([str(PROGRAM)], Options(rules, lang=lang)).findings
    assert finding.sure
    return finding.sentence


def test_the_sentence_names_the_option() -> None:
    assert said("en").endswith(": it fails once `--gpu` names another GPU")
    assert "`--gpu`" in said("zh")
