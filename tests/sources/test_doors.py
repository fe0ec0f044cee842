"""``--source`` and ``--no-source`` at each door, and what an answer says of the files; real processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from diagnose.casebase.store import load
from diagnose.model import UnusedSource
from diagnose.pipeline import diagnose
from diagnose.rendering import full, markdown
from diagnose.rendering.answer import why_unused
from diagnose.sources import Given, Sources

NET = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x + self.pe\n"
TRACE = """\
Traceback (most recent call last):
  File "/cluster/job/net.py", line 6, in forward
    return x + self.pe
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
"""
#: As a logger prints it that has no files.
BARE = TRACE.replace("    return x + self.pe\n", "")


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "net.py").write_text(NET)
    (tmp_path / "trace.txt").write_text(TRACE)
    (tmp_path / "bare.txt").write_text(BARE)
    return tmp_path


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "diagnose", *args], cwd=folder, capture_output=True, text=True
    )


def answers(folder: Path, *args: str) -> list[dict[str, Any]]:
    done = run(folder, "--format", "json", *args)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("click", [(), ("--top", "3")])
def test_a_folder_makes_a_diff_that_applies_in_the_files_own(
    click: tuple[str, ...], job: Path
) -> None:
    (answer,) = answers(job, "--source", "job", *click, "trace.txt")
    assert answer["sources"] == ["job/net.py"]
    assert answer["culprit"]["basis"] == "trace"
    patch = next(f["patch"] for cause in answer["causes"] for f in cause["fixes"] if f["patch"])
    subprocess.run(["git", "apply"], input=patch, text=True, cwd=job / "job", check=True)
    assert (job / "job" / "net.py").read_text() != NET


def test_the_straight_way_and_click_say_the_same(job: Path) -> None:
    straight = run(job, "--full", "--source", "job", "trace.txt", "bare.txt")
    given = ("answer", "--source", "job", "trace.txt", "bare.txt", "--full")
    assert straight.stdout == run(job, *given).stdout
    assert "Source read: job/net.py." in straight.stdout


def test_options_of_sources_need_no_click(job: Path) -> None:
    code = "import sys\nfrom diagnose.cli import main\ntry:\n    main()\nfinally:\n    print('click' in sys.modules)"
    for options in (
        ["--source", "job"],
        ["--no-source", "--full"],
        ["--format", "json", "--source", "job"],
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *options, "trace.txt"],
            cwd=job,
            capture_output=True,
            text=True,
        )
        assert done.stdout.splitlines()[-1] == "False"


def test_without_a_file_nothing_of_the_analysis_is_imported(job: Path) -> None:
    code = "import sys\nfrom diagnose.cli import main\ntry:\n    main()\nfinally:\n    print('diagnose.placement.analysis' in sys.modules)"
    for options, imported in (((), "False"), (("--source", "job"), "True")):
        done = subprocess.run(
            [sys.executable, "-c", code, *options, "trace.txt"],
            cwd=job,
            capture_output=True,
            text=True,
        )
        assert done.stdout.splitlines()[-1] == imported


def test_a_line_that_was_not_printed_comes_from_the_file(job: Path) -> None:
    (without,), (answer,) = answers(job, "bare.txt"), answers(job, "--source", "job", "bare.txt")
    assert without["culprit"]["code"] is None
    assert answer["culprit"]["code"] == answer["frames"][0]["code"] == "return x + self.pe"
    assert any(fix["patch"] for cause in answer["causes"] for fix in cause["fixes"])


def test_no_source_reads_nothing(job: Path) -> None:
    path = job / "job" / "net.py"
    (job / "here.txt").write_text(TRACE.replace("/cluster/job/net.py", str(path)))
    (read,), (unread,) = answers(job, "here.txt"), answers(job, "--no-source", "here.txt")
    assert read["sources"] == [str(path)]
    assert unread["sources"] == unread["unused_sources"] == []
    assert answers(job, "--no-source", "--source", "job", "here.txt")[0]["sources"] == []


@pytest.mark.parametrize("args", [(), ("--top", "1")])
def test_a_folder_that_is_not_there_is_bad_input(args: tuple[str, ...], job: Path) -> None:
    for command in ((), ("answer",)):
        done = run(job, *command, "--source", "gone", *args, "trace.txt")
        assert done.returncode == 2
        assert "gone" in done.stderr and not done.stdout
    assert run(job, "--source").returncode == 2


def test_each_report_has_its_own_files(job: Path) -> None:
    (job / "other.txt").write_text(TRACE.replace("self.pe", "self.pos"))
    first, second = answers(job, "--source", "job", "trace.txt", "other.txt")
    assert (first["sources"], first["unused_sources"]) == (["job/net.py"], [])
    assert second["sources"] == []
    assert second["unused_sources"] == [
        {"file": "job/net.py", "line": 6, "reason": "changed", "why": "line 6 reads otherwise"}
    ]


def test_why_verify_and_evaluate_take_a_folder(job: Path) -> None:
    whole = run(job, "kb", "why", "--source", "job", "bare.txt").stdout
    assert "return x + self.pe" in whole
    assert "return x + self.pe" not in run(job, "kb", "why", "bare.txt").stdout
    program = run(job, "--verification", "-", "bare.txt", "--source", "job").stdout
    assert program == run(job, "--verification", "-", "trace.txt").stdout
    assert program != run(job, "--verification", "-", "bare.txt").stdout
    (job / "labelled").mkdir()
    (job / "bare.txt").rename(job / "labelled" / "bare.txt")
    label = {"cause": "unregistered-tensor", "culprit": {"file": "net.py", "line": 6}}
    (job / "labelled" / "bare.json").write_text(json.dumps(label))
    plain, found = (
        run(job, "kb", "evaluate", "--format", "json", "labelled", *more)
        for more in ((), ("--source", "job"))
    )
    assert (plain.returncode, found.returncode) == (0, 0), found.stderr
    assert plain.stdout != found.stdout  # another confidence, by the line of the file


# --- what is said ------------------------------------------------------------------------------------------


def said(lang: Any, files: dict[str, str]) -> tuple[str, str]:
    sources = Sources([Given(files)], read=None)
    diagnosis = diagnose(TRACE, casebase=load(lang=lang), sources=sources)
    return full.render(diagnosis).splitlines()[-1], markdown.render(diagnosis).splitlines()[-1]


@pytest.mark.parametrize(
    ("lang", "files", "expected"),
    [
        ("en", {"net.py": NET}, "Source read: net.py."),
        ("zh", {"net.py": NET}, "已读取源文件：net.py。"),
        ("en", {"net.py": "x"}, "Source not used: net.py (line 6 reads otherwise)."),
        ("zh", {"net.py": "x"}, "未使用：net.py（第 6 行内容不同）。"),
        ("en", {"x.py": "x"}, "Source not used: /cluster/job/net.py (not found in any given folder)."),
        ("en", {"a/net.py": NET, "b/net.py": NET},
         "Source not used: /cluster/job/net.py (these fit alike: a/net.py, b/net.py)."),
    ],
)  # fmt: skip
def test_an_answer_says_in_a_line_which_files_were_read(
    lang: Any, files: dict[str, str], expected: str
) -> None:
    plain, marked = said(lang, files)
    assert plain == expected
    assert marked.replace("\\", "") == expected


def test_every_reason_has_its_words() -> None:
    from typing import get_args

    from diagnose.model import UnusedReason

    for reason in get_args(UnusedReason):
        for lang in ("en", "zh"):
            assert why_unused(UnusedSource("a.py", reason, 3, ("b.py",)), lang)  # type: ignore[arg-type]


def test_a_hostile_name_does_not_steer_the_terminal() -> None:
    trace = TRACE.replace("/cluster/job/net.py", "/x/\x1b[31mnet\u202e.py")
    sources = Sources([Given({"other.py": ""})], read=None)
    page = full.render(diagnose(trace, sources=sources))
    assert "\x1b" not in page and "\u202e" not in page
