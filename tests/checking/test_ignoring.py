"""Comments that keep findings quiet."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from checking.conftest import MASK
from checking.test_command import check

from diagnose.checking.ignoring import ignored
from diagnose.placement import Source

LINE = "mask = torch.ones(x.shape[0], 8)"


def commented(project: Path, comment: str, line: str = LINE) -> None:
    (project / "train.py").write_text(MASK.replace(LINE, f"{line}  {comment}"))


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "# NOQA",
        "# noqa: created-without-device",
        "#noqa:E501,created-without-device",
        "# type: ignore # noqa: created-without-device, F401",
        "# diagnose: ignore",
        "# diagnose: ignore[created-without-device]",
        "# diagnose: ignore[index-device, created-without-device]  it is meant",
    ],
)
def test_a_comment_on_the_line_keeps_its_finding_quiet(project: Path, comment: str) -> None:
    commented(project, comment)
    assert check("train.py", cwd=project).returncode == 0


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: E501",
        "# noqa:",
        "# noqas",
        "# diagnose: ignore[index-device]",
        "# diagnose: ignore[]",
        "# diagnoses: ignore",
    ],
)
def test_other_comments_do_not(project: Path, comment: str) -> None:
    commented(project, comment)
    assert check("train.py", cwd=project).returncode == 1


def test_a_string_is_no_comment() -> None:
    text = "x = '# noqa'\ny = '''\n# diagnose: ignore\n'''\n"
    assert ignored(Source("x.py", tuple(text.split("\n")), ast.parse(text))) == {}


def test_any_line_of_what_was_found_may_carry_it(project: Path) -> None:
    commented(
        project, "", "mask = torch.ones(\n            x.shape[0],  # noqa: created-without-device\n            8,\n        )"
    )  # fmt: skip
    assert check("train.py", cwd=project).returncode == 0


def test_unused_ones_are_told_when_it_is_asked_for(project: Path) -> None:
    (project / "train.py").write_text(
        "x = 1  # diagnose: ignore[created-without-device]\n"
        "y = 2  # noqa: E501, unregistered-tensor\n"
        "z = 3  # noqa\n"
        "a = 4  # diagnose: ignore[no-such-thing]\n"
        "c = 6  # diagnose: ignore[unregistered-tensr]\n"
        "b = 5  # noqa: hardcoded-device\n"  # in preview: nobody looked for it
    )
    assert check("train.py", cwd=project).returncode == 0
    run = check("--warn-unused-ignores", "train.py", cwd=project)
    assert run.returncode == 1
    assert run.stdout.splitlines()[:4] == [
        "train.py:1:8: ignores created-without-device, which is not found here",
        "train.py:2:8: ignores unregistered-tensor, which is not found here",
        "train.py:4:8: ignores no-such-thing, which is not found here",
        "train.py:5:8: unregistered-tensr is not the id of a rule; did you mean unregistered-tensor?",
    ]
    assert (
        "hardcoded-device"
        in check("--warn-unused-ignores", "--preview", "train.py", cwd=project).stdout
    )
    commented(project, "# diagnose: ignore[created-without-device]")
    assert check("--warn-unused-ignores", "train.py", cwd=project).returncode == 0
