"""What a check has found is found again without a second analysis, until something that it read changes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from diagnose.casebase.store import load
from diagnose.checking import checking
from diagnose.checking.checking import check
from diagnose.checking.model import CheckedFile, Options, Report

RULES = Path(__file__).with_name("rules")
OPTIONS = Options(frozenset(rule.id for rule in load().checks()), likely=True)
HELPER = "def weights(n):\n    import torch\n    return torch.ones(n)\n"
MAIN = """\
import torch
from helper import weights

x = torch.zeros(3, device="cuda")
print(x * weights(3))
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    Path("main.py").write_text(MAIN)
    Path("helper.py").write_text(HELPER)
    Path("alone.py").write_text("print(1)\n")
    return tmp_path / "project"


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were analysed."""
    paths = list[str]()
    judge = checking.judge

    def noting(path: str, *args: object, **more: object) -> CheckedFile:
        paths.append(path)
        return judge(path, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(checking, "judge", noting)
    return paths


def again(paths: tuple[str, ...] = ("alone.py", "helper.py", "main.py")) -> Report:
    return check(paths, OPTIONS, cached=True)


def test_what_has_not_changed_is_not_analysed_again(project: Path, judged: list[str]) -> None:
    first = again()
    judged.clear()

    assert again() == first
    assert first.findings
    assert judged == []


@pytest.mark.parametrize(
    ("file", "text", "anew"),
    [
        ("alone.py", "print(2)\n", ["alone.py"]),
        ("helper.py", HELPER.replace("(n)\n", "(n, device='cuda')\n", 2), ["helper.py", "main.py"]),
    ],
)
def test_what_has_changed_is_analysed_with_what_imports_it(
    project: Path, judged: list[str], file: str, text: str, anew: list[str]
) -> None:
    again()
    judged.clear()
    (project / file).write_text(text)

    found = again()

    assert judged == anew
    assert found == check(("alone.py", "helper.py", "main.py"), OPTIONS)


def test_a_new_file_may_be_what_any_other_imports(project: Path, judged: list[str]) -> None:
    again(("alone.py", "main.py"))
    judged.clear()

    again()

    assert judged == ["alone.py", "helper.py", "main.py"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"main.py": {"read": {}, "found": [1, 2]}}'])
def test_a_damaged_cache_is_none(project: Path, judged: list[str], text: str) -> None:
    first = again()
    for file in (project.parent / "cache").rglob("*.json"):
        file.write_text(text)
    judged.clear()

    assert again() == first
    assert judged == ["alone.py", "helper.py", "main.py"]


def test_each_kind_of_finding_comes_back_whole(project: Path, judged: list[str]) -> None:
    paths = []
    for path in sorted(RULES.glob("*/*.in.py"))[::9]:
        name = f"{path.parent.name}_{path.name}"
        shutil.copy(path, name)
        paths.append(name)
    first = again(tuple(paths))
    judged.clear()

    assert again(tuple(paths)) == first
    assert len({one.id for one in first.findings}) > 5
    assert judged == []
