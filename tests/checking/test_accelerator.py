"""The rule ``accelerator``: what is for CUDA alone, and the same program for any accelerator."""

from __future__ import annotations

import inspect
import subprocess
from pathlib import Path

import forked
import pytest
from checking.test_command import check as run_check
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.casebase.store import load
from diagnose.checking import accelerator
from diagnose.checking.answering import Wanted, answer, rules
from diagnose.checking.checking import check, mend
from diagnose.checking.formats import FORMATS
from diagnose.checking.model import Finding, Options

HERE = Path(__file__).parent / "accelerator"
BEFORE = (HERE / "train.in.py").read_text()
ONLY = Options(frozenset({"accelerator"}))


def found(text: str) -> tuple[Finding, ...]:
    return check(["a.py"], ONLY, texts={"a.py": text}).findings


def fixed(text: str, *, unsafe: bool = False) -> str:
    texts = {"a.py": text}
    report = check(["a.py"], ONLY, texts=texts)
    _, files = mend(report, ["a.py"], ONLY, unsafe=unsafe, texts=texts)
    return files[0].after if files else text


@pytest.mark.parametrize("name", ["safe", "unsafe"])
def test_the_program_after_its_fixes(name: str, renew: bool) -> None:
    path = HERE / f"train.{name}.py"
    after = fixed(BEFORE, unsafe=name == "unsafe")
    if renew:
        path.write_text(after)
    assert after == path.read_text()
    assert not any(one.repair and one.repair.safety == name for one in found(after))


def test_it_runs_on_gpus_as_it_did(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "each.py").write_text(
        "import runpy, sys\nfor path in sys.argv[1:]:\n    runpy.run_path(path)\n    print('end')\n"
    )
    programs = [HERE / f"train.{name}.py" for name in ("in", "safe", "unsafe")]
    ran = subprocess.run(
        [forked.python(), "-m", "diagnose.simulation", "--gpus", "2", "each.py", *programs],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    before, *after = ran.stdout.split("end\n")[:-1]
    assert before.startswith("cuda:1 cuda:0 1\n"), ran.stderr
    assert after == [before, before]


def test_each_name_is_one_of_torch_that_takes_as_much() -> None:
    torch = pytest.importorskip("torch")
    rule = load().accelerator()
    for name, (to, _) in rule.twins.items():
        ours, theirs = getattr(torch.cuda, name), torch
        for part in to.split(".")[1:]:
            theirs = getattr(theirs, part)
        if not inspect.isclass(ours):
            taken = [len(inspect.signature(one).parameters) for one in (ours, theirs)]
            assert taken[0] == taken[1], name
    for name in (*rule.first, *rule.lenient):
        assert eval(name, {"torch": torch}), name


LINES = [
    "x = torch.ones(2, device='cuda')",
    "x = x.cuda() + torch.ones(2).to('cuda:1').cuda(0)",
    "n = torch.cuda.device_count()  # cuda",
    "if n: device = 'cuda'",
    "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')",
    "s = torch.cuda.Stream()",
    "names = {'cuda': 'cuda:0'}; y = x.to( 'cuda' )",
    'text = """cuda',
    '"""',
    "    ",
    "# x.cuda()",
    "print('cuda', x.is_cuda, f'{n} cuda')",
    "x = (x  # here\n     .cuda(  ))",
]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_nothing_else_changes(lines: list[str], end: str) -> None:
    text = end.join(["import torch", *(one.replace("\n", end) for one in lines), ""])
    try:
        compile(text, "a.py", "exec")
    except SyntaxError:
        return
    edited = {
        line
        for one in found(text)
        for line in range(one.place.line, one.place.end_line + 1)
        if one.repair
    }
    before, after = (one.split(end) for one in (text, fixed(text, unsafe=True)))
    assert len(before) == len(after)
    assert {n for n, (a, b) in enumerate(zip(before, after, strict=True), 1) if a != b} <= edited
    assert not any(one.repair for one in found(end.join(after)))


@pytest.mark.parametrize(
    "code",
    [
        "class Batch:\n    def cuda(self): ...\nBatch().cuda()",
        "import torch\nsync = torch.cuda.synchronize",
        "import torch\nwith torch.cuda.stream(torch.cuda.Stream()): pass",
        "import torch\ntorch.cuda.synchronize(*devices)",
        "import torch\nx = torch.ones(2).cuda(**options)",
    ],
)
def test_what_cannot_be_edited_is_told(code: str) -> None:
    assert [one.repair for one in found(code)]
    assert not any(one.repair for one in found(code))


@pytest.mark.parametrize(
    "code",
    [
        "def f(torch): return torch.cuda.device_count()",
        "import torch\nif x.device.type == 'cuda': pass",
        "import torch\nx = {'cuda': 1}",
        "import torch\nprint(torch.version.cuda, torch.backends.cuda.matmul)",
        "import torch\ntorch.cuda.device_count()  # noqa: accelerator",
    ],
)
def test_what_is_none_of_it(code: str) -> None:
    assert found(code) == ()


def test_a_file_calls_torch_as_it_likes() -> None:
    assert fixed("import torch as th\nx = th.zeros(1).cuda()\n") == (
        "import torch as th\nx = th.zeros(1).to(th.accelerator.current_accelerator())\n"
    )
    assert fixed('from torch import nn\nm = nn.Linear(1, 1, device="cuda")\n') == (
        "from torch import nn\nimport torch\n"
        "m = nn.Linear(1, 1, device=torch.accelerator.current_accelerator().type)\n"
    )


@pytest.mark.parametrize(("release", "safety"), [("2.8.0", "unsafe"), ("2.9.0+cu128", "safe")])
def test_a_name_that_the_installed_torch_lacks_is_not_safe(
    release: str, safety: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accelerator, "installed", {"torch": release}.get)
    (one,) = found("import torch\ntorch.cuda.empty_cache()\n")
    assert one.repair is not None
    assert (one.repair.safety, one.repair.because) == (
        safety,
        "it needs torch 2.9" if safety == "unsafe" else None,
    )


def test_it_reports_where_it_is_selected_and_in_each_form(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "train.py").write_text(BEFORE)
    assert accelerator.RULE not in rules(Wanted(preview=True))
    for form in FORMATS:
        assert answer(["train.py"], Wanted((accelerator.RULE,), form=form)) == 1
        told, problems = capsys.readouterr()
        assert "`torch.cuda.manual_seed_all` is for CUDA alone, and" in told
        assert problems == ""
    run_check("--select", "accelerator", "--fix", "train.py", cwd=project)
    assert (project / "train.py").read_text() == (HERE / "train.safe.py").read_text()
