"""docs/checking.md lists the rules as kb/ has them, and the hook is one that pre-commit takes."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import yaml
from checking.test_command import check

from diagnose.casebase.store import load

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "checking.md"
HOOKS = ROOT / ".pre-commit-hooks.yaml"
_FIRST, _LAST = "--renew -->\n", "<!-- end of rules -->"


def table() -> str:
    casebase = load()
    rows = ["| id | what is found | fix | |", "|---|---|---|---|"]
    for rule in casebase.checks():
        fix = " or ".join(f"`{kind}`" for kind in rule.fixes)
        safety = rule.safety if rule.because is None else f"{rule.safety}: {rule.because}"
        preview = "preview" if rule.preview else ""
        title = casebase.causes[rule.id].title
        rows.append(f"| `{rule.id}` | {title} | {fix} ({safety}) | {preview} |")
    return "\n".join(rows) + "\n"


def test_the_page_lists_the_rules(renew: bool) -> None:
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(_FIRST)
    _, tail = rest.split(_LAST)
    made = f"{head}{_FIRST}{table()}{_LAST}{tail}"
    if renew:
        PAGE.write_text(made, encoding="utf-8")
    assert text == made or renew


def test_the_hook_is_one(project: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-manifest", HOOKS], check=True, cwd=ROOT
    )
    (hook,) = yaml.safe_load(HOOKS.read_text())
    program, command = shlex.split(hook["entry"])
    assert program == "diagnose"
    run = subprocess.run(
        [sys.executable, "-m", program, command, "--fix", "model/mask.py", "train.py"],
        cwd=project, capture_output=True, timeout=60,
    )  # fmt: skip
    assert run.returncode == 0
    assert check("model/mask.py", cwd=project).returncode == 0
