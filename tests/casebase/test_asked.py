"""What `diagnose kb check` asks of an incident: a second reading, and a program that raises nothing itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from compiling.small import FILES

from diagnose.authoring import asked as asking
from diagnose.authoring.asked import asked
from diagnose.authoring.byhand import raised_by_hand
from diagnose.commands.doors import doors
from diagnose.compiling.kbfile import files

FACTS = {"message": "Cannot put x (on cuda:0)\n beside y on cpu: move one of them"}
CASE = FILES["cases/first/case.toml"]
REVIEWED = 'reviewed = { on = 2026-11-22, seen = "the whole thread" }\n'
BY_HAND = 'by_hand = "the program needs the GPU it simulates"\n'
RAISES = 'raise ValueError("found cpu and cuda")\n'


@pytest.mark.parametrize(
    "program",
    [
        'raise RuntimeError("Cannot put x (on cuda:1) beside y on cpu: move one of them")',
        'raise RuntimeError(f"Cannot put {x} (on {x.device})")',
        'raise RuntimeError("Cannot put {} beside y on cpu".format(x))',
        'raise RuntimeError("Cannot put %s beside y on cpu" % x)',
        'TEXT = "beside y on cpu: move one of them"\nraise RuntimeError("x " + TEXT)',
        'assert x.device == y.device, f"... beside y on {y.device}: move one of them"',
        'raise RuntimeError("Sorry. Cannot put x (on cuda:0) beside y on cpu: move one of them. Bye.")',
    ],
)
def test_a_message_raised_by_the_program_itself_is_found(program: str) -> None:
    assert raised_by_hand(FACTS, f"x = 1\n{program}\n") == 1 + len(program.splitlines())


@pytest.mark.parametrize(
    "program",
    [
        'print("Cannot put x (on cuda:0) beside y on cpu")',
        'raise SystemExit("usage: reproduce.py failing")',
        "raise RuntimeError(f'{x} on {y}')",
        "assert torch.equal(x, y)",
        "raise",
        '"""raise Cannot put x (on cuda:0) beside y on cpu"""',
        "x = y = x + y",
        "raise (",
    ],
)
def test_what_only_leads_to_the_error_is_not(program: str) -> None:
    assert raised_by_hand(FACTS, program) is None
    assert raised_by_hand({"silent": True}, program) is None


def of(case: str, program: str = "print(1)\n", *, required: bool = False) -> list[tuple[str, str]]:
    files = {"cases/first/case.toml": case.encode(), "cases/first/reproduce.py": program.encode()}
    return [(one.file, one.key) for one in asked(files, required=required)]


def test_what_an_incident_lacks_is_told() -> None:
    name = "cases/first/case.toml"
    assert of(CASE, RAISES) == []
    assert of(CASE.replace(REVIEWED, "")) == [(name, "reviewed")]
    assert of(CASE.replace(BY_HAND, ""), RAISES) == [(name, "by_hand")]
    assert of(CASE.replace(BY_HAND, "")) == []
    assert of("= no TOML") == []


def test_what_is_required_is_a_mistake_and_the_rest_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kb: Path
) -> None:
    ident = "torch-peer-copy-iommu"
    shutil.copytree(kb, tmp_path / "kb", ignore=lambda at, names: others(at, names, ident))
    case = tmp_path / "kb/cases" / ident / "case.toml"
    lines = case.read_text(encoding="utf-8").splitlines(keepends=True)
    case.write_text("".join(line for line in lines if not line.startswith("reviewed")), "utf-8")
    command = ["kb", "check", "--kb", str(tmp_path / "kb"), ident]
    done = CliRunner().invoke(doors, command)
    assert (done.exit_code, f"{case}:1: reviewed: is missing" in done.output) == (0, True)
    assert f"{ident}: no mistakes, 1 left to do" in done.output
    monkeypatch.setattr(asking, "ASKED", [one._replace(required=True) for one in asking.ASKED])
    done = CliRunner().invoke(doors, command)
    assert done.exit_code == 1
    assert (done.output.count("reviewed: is missing"), "1 problem in" in done.output) == (
        1,
        True,
    )


def others(folder: str, names: list[str], ident: str) -> set[str]:
    return set(names) - {ident} if Path(folder).name == "cases" else set()


def test_nothing_is_left_to_do_in_the_case_base() -> None:
    """What is only told to an author of one incident is a condition for those that are shipped."""
    read = files(Path(__file__).parents[2] / "kb")
    assert [str(left) for left in asked(read, required=False)] == []
