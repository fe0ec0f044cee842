"""``diagnose check`` as its users run it: files, exit statuses, what is told on which stream."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from checking.conftest import MASK, TABLE

from diagnose.checking.judging import judge
from diagnose.checking.model import Options


def check(*args: str, cwd: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "diagnose", "check", *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        timeout=120,
        env={**os.environ, **extra},
    )


def found(run: subprocess.CompletedProcess[str]) -> list[tuple[str, str, int]]:
    return [(one["file"], one["id"], one["line"]) for one in json.loads(run.stdout)["findings"]]


BOTH = [
    ("model/mask.py", "created-without-device", 11),
    ("model/table.py", "unregistered-tensor", 8),
]


def test_findings_end_with_one_and_none_with_zero(project: Path) -> None:
    run = check("--format", "json", ".", cwd=project)
    assert (run.returncode, found(run), run.stderr) == (1, BOTH, "")
    clean = check("train.py", cwd=project)
    assert (clean.returncode, clean.stderr) == (0, "")
    assert clean.stdout == "nothing found in 1 file\n"


def test_rules_are_chosen_by_their_ids(project: Path) -> None:
    assert found(check("--select", BOTH[1][1], "--format", "json", ".", cwd=project)) == BOTH[1:]
    assert found(check("--ignore", BOTH[1][1], "--format", "json", ".", cwd=project)) == BOTH[:1]
    both = ",".join(rule for _, rule, _ in BOTH)
    assert found(check("--select", both, "--format", "json", ".", cwd=project)) == BOTH
    assert check("--ignore", both, ".", cwd=project).returncode == 0
    slip = check("--select", "unregistered-tensors", ".", cwd=project)
    assert slip.returncode == 2
    assert "did you mean unregistered-tensor?" in slip.stderr


KERNEL = """\
import torch
from bitsandbytes.functional import quantize_4bit

print(quantize_4bit(torch.ones(64, 64)))
"""


def test_rules_in_preview_report_when_they_are_asked_for(project: Path) -> None:
    (project / "train.py").write_text(KERNEL)
    assert check("train.py", cwd=project).returncode == 0
    asked = check("train.py", "--preview", "--format", "json", cwd=project)
    named = check("train.py", "--select", "kernel-needs-gpu", "--format", "json", cwd=project)
    assert found(asked) == found(named) == [("train.py", "kernel-needs-gpu", 4)]


LIBRARY = """\
import torch
from pytorch_metric_learning.losses import NCALoss

loss_func = NCALoss(softmax_scale=1)
embeddings = torch.rand(4, 2, requires_grad=True).to("cuda")
labels = torch.LongTensor([0, 0, 1, 1])
print(loss_func(embeddings, labels))
loaded = torch.load("targets.pt")["targets"]
print(embeddings - loaded)
"""


def test_what_a_library_may_move_and_where_a_file_was_saved_is_only_likely(project: Path) -> None:
    (project / "train.py").write_text(LIBRARY)
    assert check("train.py", cwd=project).returncode == 0
    asked = check("train.py", "--preview", "--format", "json", cwd=project)
    assert found(asked) == [
        ("train.py", "input-not-moved", 6),
        ("train.py", "checkpoint-location", 8),
    ]


LOSS_OF_A_MODEL = """\
from torch import nn
from forecasts.losses import QuantileLoss

class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.head, self.loss = nn.Linear(4, 4), QuantileLoss()

    def plot(self, x, wanted):
        made = self.head(x.to("cuda")).detach().cpu()
        return self.loss(made, wanted.cpu())

Forecast().to("cuda").plot(torch.rand(2, 4), torch.rand(2, 4))
"""


def test_a_librarys_loss_that_was_moved_with_its_model_only_likely_has_weights(
    project: Path,
) -> None:
    (project / "train.py").write_text(LOSS_OF_A_MODEL)
    assert check("train.py", cwd=project).returncode == 0
    asked = check("train.py", "--preview", "--format", "json", cwd=project)
    assert [rule for _, rule, _ in found(asked)] == ["input-not-moved"]


STEP = """\
import torch
from torch import nn

model = nn.Linear(4, 2).to("cuda:0")

def step(rows):
    return model(torch.zeros(2, 4) + len(rows))
"""


def test_what_a_function_hands_to_a_model_is_only_likely_unmoved_where_nothing_calls_it(
    project: Path,
) -> None:
    (project / "train.py").write_text(STEP)
    assert check("train.py", cwd=project).returncode == 0
    asked = check("train.py", "--preview", "--format", "json", cwd=project)
    assert [rule for _, rule, _ in found(asked)] == ["input-not-moved"]
    (project / "train.py").write_text(f"{STEP}\nprint(step([1]))\n")
    called = check("train.py", "--format", "json", cwd=project)
    assert [rule for _, rule, _ in found(called)] == ["input-not-moved"]


def test_folders_of_other_people_are_left_out_unless_they_are_named(project: Path) -> None:
    for folder in (
        ".hidden",
        "build",
        "node_modules",
        "venv",
        "lib/site-packages/x",
        "lib/dist-packages/x",
    ):
        (project / folder).mkdir(parents=True)
        (project / folder / "mask.py").write_text(MASK)
    (project / "venv" / "pyvenv.cfg").write_text("")
    (project / "notes.txt").write_text(MASK)
    (project / "again.py").symlink_to("model/mask.py")
    run = check("--format", "json", ".", "model", cwd=project)
    assert sorted(rule for _, rule, _ in found(run)) == [rule for _, rule, _ in BOTH]
    named = check(
        "--format", "json", "build", "lib/site-packages/x/mask.py", "notes.txt", cwd=project
    )
    assert sorted({file for file, _, _ in found(named)}) == [
        "build/mask.py", "lib/site-packages/x/mask.py", "notes.txt",
    ]  # fmt: skip
    for pattern in ("model", "m*", "model/*.py"):
        assert (
            check("--exclude", pattern, "--exclude", "again.py", ".", cwd=project).returncode == 0
        )


UNREADABLE = {
    "python2.py": (b"print 'hello'\n", "python2.py:1 cannot be read as Python 3"),
    "broken.py": (b"def f(:\n", "broken.py:1 cannot be read as Python 3"),
    "deep.py": (b"x = " + b"(" * 5000 + b")" * 5000 + b"\n", "deep.py"),
    "minus.py": (b"x = " + b"-" * 200_000 + b"1\n", "minus.py"),
    "null.py": (b"x = 1\0\n", "null.py"),
    "latin.py": (b"# \xe9\n", "latin.py is not text in the encoding that it declares"),
    "cookie.py": (
        b"# coding: nonsense\n",
        "cookie.py is not text in the encoding that it declares",
    ),
    "mac.py": (b"x = 1\ry = 2\r", "mac.py is not checked: carriage returns alone end its lines"),
    "large.py": (
        b"x = 1\n" * 200_000,
        "large.py is not checked: it is larger than 1,000,000 bytes",
    ),
    "list.ipynb": (b"[1, 2]", "list.ipynb is not a notebook: it has no cells"),
    "text.ipynb": (b"\xff{", "text.ipynb is not a notebook"),
}


def test_a_file_that_cannot_be_read_is_told_in_a_line_and_costs_no_other(project: Path) -> None:
    for name, (data, _) in UNREADABLE.items():
        (project / name).write_bytes(data)
    run = check("--format", "json", ".", cwd=project)
    assert (run.returncode, found(run)) == (1, BOTH)
    told = run.stderr.splitlines()
    assert len(told) == len(UNREADABLE)
    for _, sentence in UNREADABLE.values():
        assert any(line.startswith(f"diagnose: {sentence}") or sentence in line for line in told)
    assert "Traceback" not in run.stderr
    assert check("broken.py", cwd=project).returncode == 2
    assert check("model", "missing.py", cwd=project).returncode == 2
    assert check(cwd=project).returncode == 2


def test_names_and_lines_steer_no_terminal(project: Path) -> None:
    name = "a\x1b[31m\nb,%:c.py"
    (project / name).write_text(
        MASK.replace("8)\n        return", "8)  # \x1b]0;owned\x07 \u202e\n        return")
    )
    for form in ("text", "gcc", "github", "json", "sarif"):
        run = check("--format", form, name, cwd=project)
        assert run.returncode == 1, run.stderr
        assert not set("\x1b\x07\u202e") & set(run.stdout.replace("\\u202e", "")) or form in (
            "json", "sarif",
        )  # fmt: skip
        assert "\x1b" not in run.stdout
    lines = check("--format", "gcc", name, cwd=project).stdout.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("a\\x1b[31m\\nb,%:c.py:11:16: warning: ")
    (project / name).write_text("def\n")
    assert "\x1b" not in check(name, cwd=project).stderr


def test_many_files_in_processes_give_what_one_gives(project: Path) -> None:
    for number in range(20):
        (project / f"m{number}.py").write_text(MASK if number % 2 else TABLE)
    one = check("-j", "1", "--format", "json", ".", cwd=project)
    some = check("-j", "3", "--format", "json", ".", cwd=project)
    assert len(found(one)) == 22
    assert one.stdout == some.stdout


@pytest.mark.faults
def test_a_fault_of_ours_costs_one_file_and_is_told(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from diagnose.checking import answering, judging

    def failing(source, torch, texts, _real=judging.checked):
        if source.path.endswith("mask.py"):
            raise IndexError("of ours")
        return _real(source, torch, texts)

    monkeypatch.setattr(judging, "checked", failing)
    report = project / "report.json"
    status = answering.answer(["."], answering.Wanted(form="json"), output=report)
    document = json.loads(report.read_text())
    assert status == 4
    assert [one["id"] for one in document["findings"]] == [BOTH[1][1]]
    assert "internal error: IndexError at " in document["faults"][0]


@pytest.mark.faults
def test_a_fault_of_ours_in_a_function_costs_that_function(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from diagnose.placement.language import calls

    def failing(machine, value, name, *rest, _real=calls.attribute):
        if name == "of_ours":
            raise IndexError("of ours")
        return _real(machine, value, name, *rest)

    monkeypatch.setattr(calls, "attribute", failing)
    path = project / "model" / "mask.py"
    before = judge(str(path), Options(frozenset({BOTH[0][1]})))
    path.write_text(path.read_text() + "\n\ndef broken(x):\n    return x.of_ours\n")
    after = judge(str(path), Options(frozenset({BOTH[0][1]})))
    assert before.findings and after.findings == before.findings
    assert ["IndexError" in one for one in after.faults] == [True]


def test_a_file_may_take_so_long_and_no_longer(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from diagnose.checking import judging

    def endless(source, torch, texts):
        while True:
            with contextlib.suppress(Exception):
                next(iter(int, 1))

    monkeypatch.setattr(judging, "checked", endless)
    done = judge("train.py", Options(frozenset({BOTH[0][1]})), limit=0.2)
    assert done.problem == "train.py is not checked: it takes more than 0.2 s"


def test_a_notebook_is_checked_cell_by_cell(project: Path) -> None:
    def code(text: str) -> dict[str, object]:
        return {"cell_type": "code", "source": text.splitlines(keepends=True)}

    head, body = MASK.split("class", 1)
    cells = [
        {"cell_type": "markdown", "source": ["# A title"]},
        code("%matplotlib inline\n!pip list\n" + head),
        code("%%bash\nls *"),
        code("print 'no Python 3'"),
        code("class" + body),
    ]
    (project / "n.ipynb").write_text(json.dumps({"cells": cells}))
    run = check("n.ipynb", cwd=project)
    assert run.returncode == 1
    assert run.stdout.startswith("n.ipynb:cell 4:7:16: created-without-device ")


def test_what_other_files_define_is_known(project: Path) -> None:
    (project / "train.py").write_text(
        "import torch\nfrom model.table import Table\n\n"
        "net = Table().to('cuda:1')\nprint(net(torch.rand(2, 8, device='cuda:1')))\n"
    )
    run = check("train.py", "--format", "json", cwd=project)
    assert found(run) == [BOTH[1]]
    assert json.loads(run.stdout)["findings"][0]["wanted"] == "cuda:1"


def test_chinese(project: Path) -> None:
    run = check("--lang", "zh", "model/mask.py", cwd=project)
    assert "创建时没有 device=" in run.stdout
    assert run.stdout.splitlines()[-1].startswith("1 个问题，涉及 1 个文件（共 1 个文件）")
