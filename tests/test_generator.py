"""training/generator: what is planted is one mistake, where and as its label says, in a program that works."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from diagnose.casebase.store import Casebase
from diagnose.evaluation.labels import collect, known_ids
from diagnose.parsing import parse

pytest.importorskip("torch")
ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "training"))

from generator.forms import formed  # noqa: E402
from generator.hosts import fits, fits_style, together  # noqa: E402
from generator.incidents import hosts as incidents  # noqa: E402
from generator.labels import accepted, looks_alike, mending, tells_of_us  # noqa: E402
from generator.mistakes import mistakes  # noqa: E402
from generator.model import Field, Host, Piece  # noqa: E402
from generator.notes import bare, noted  # noqa: E402
from generator.pieces import SOURCES  # noqa: E402
from generator.rendering import host  # noqa: E402
from generator.templates import features, styles  # noqa: E402

FIELDS = (Field("x", "torch.randn($n, 8)"),)
PIECE = Piece("torch", "plain", "plain", (), "nn.Linear(8, 16)", FIELDS, "$body(x)", 16)


@pytest.mark.parametrize(
    ("line", "cause", "expected"),
    [
        ("x = x.to(device)  #: input-not-moved|unmove|x", "input-not-moved", None),
        ("a, b = a.to(d), b.to(d)  #: input-not-moved|unmove:b|b", "input-not-moved", "a, b = a.to(d), b"),
        ("n = Net().to(d)  #: module-not-moved|unmove|n", "module-not-moved", "n = Net()"),
        ("m = torch.ones(3, device=x.device)  #: c|nodevice|m", "c", "m = torch.ones(3)"),
        ("g = torch.Generator(device=d).manual_seed(1)  #: c|nodevice|g", "c", "g = torch.Generator().manual_seed(1)"),
        ("s = torch.load(f, map_location=d)['k']  #: c|nomap|s", "c", "s = torch.load(f)['k']"),
        ("self.register_buffer('t', torch.rand(4, 2), persistent=False)  #: c|attribute|self.t", "c", "self.t = torch.rand(4, 2)"),
        ("self.l = nn.ModuleList(nn.Linear(1, 1) for _ in range(2))  #: c|plain|self.l", "c", "self.l = [nn.Linear(1, 1) for _ in range(2)]"),
        ("self.l = nn.ModuleDict({'a': nn.Linear(1, 1)})  #: c|plain|self.l", "c", "self.l = {'a': nn.Linear(1, 1)}"),
        ("p = out.argmax(-1).cpu().numpy()  #: c|nocpu|out", "c", "p = out.argmax(-1).numpy()"),
    ],
)  # fmt: skip
def test_an_operator_takes_one_thing_out_of_one_line(
    line: str, cause: str, expected: str | None
) -> None:
    program = f"first = 1\n{line}\nlast = 2\n"
    (made,) = mistakes(program)
    wanted = ["first = 1", *([expected] if expected else []), "last = 2", ""]
    assert made.text.split("\n") == wanted
    assert (made.cause, made.line) == (cause, 2)


def test_a_line_is_moved_below_another() -> None:
    program = "model.to(device)  #: optimizer-state|below:made|optimizer\noptimizer = Adagrad(model)  #@made\nstep()"
    (made,) = mistakes(program)
    assert made.text == "optimizer = Adagrad(model)\nmodel.to(device)\nstep()"
    assert made.line == 2
    assert made.lines == (1,)


def test_a_block_keeps_a_body() -> None:
    (made,) = mistakes("for x in y:\n    x = x.to(d)  #: input-not-moved|unmove|x\nprint()")
    ast.parse(made.text)
    assert made.text.split("\n")[1].strip() == "pass"


@cache
def drawn_hosts() -> tuple[Host, ...]:
    """A host of each feature in three of the styles that it fits, and of each style."""
    made = []
    for number, feature in enumerate(features()):
        fitting = [style for style in styles() if fits(feature, style)]
        for one in range(min(3, len(fitting))):
            style = fitting[(number + one * 5) % len(fitting)]
            made.append(host(PIECE, style, [feature], Random(number), f"host_{number}_{one}"))
    made += [host(PIECE, style, [], Random(7), f"host_{style.name}") for style in styles()]
    return tuple(made)


def test_every_feature_in_every_style_is_python_and_each_note_can_be_planted() -> None:
    hosts = drawn_hosts()
    assert len(hosts) > 150
    able = {one["name"] for one in features() if find_spec(one.get("needs", "torch"))}
    assert able == {name for one in hosts for name in one.features}
    for one in hosts:
        healthy = bare(one.text)
        ast.parse(healthy)
        assert "#:" not in healthy
        assert not re.search(r"\$\w|<[A-Z]\w*[:>]|^\s*@\w+$(?<!@triton.jit)", healthy, re.M), (
            healthy
        )
        made = list(mistakes(one.text))
        assert len(made) == len(list(noted(one.text))), (one.style, one.features)
        assert all(mistake.text != healthy for mistake in made)


def test_only_the_labelled_line_differs() -> None:
    for one in drawn_hosts()[::3]:
        healthy = bare(one.text).split("\n")
        for made in mistakes(one.text):
            broken = made.text.split("\n")
            if len(broken) == len(healthy) and made.operator != "below":
                differing = [
                    n for n, (a, b) in enumerate(zip(healthy, broken, strict=True), 1) if a != b
                ]
                assert differing == [made.line]
            else:
                assert abs(len(broken) - len(healthy)) <= 1


def test_all_causes_of_programs_can_be_planted(casebase: Casebase) -> None:
    """A library's bug is in no line of the program: it has a place in the table, and is not planted."""
    planted = {note.cause for one in drawn_hosts() for note in noted(one.text)}
    assert planted | {"library-version-bug"} == set(casebase.causes) == set(looks_alike()["cause"])
    for known in looks_alike()["cause"].values():
        assert set(known["also"]) <= set(casebase.causes)
        assert set(known["fixes"]) <= set(casebase.fixes)


def test_a_look_alike_is_accepted_where_the_failure_reads_like_it() -> None:
    (made,) = mistakes(
        "self.table = table.to(d)  #: unregistered-tensor|unmove|self.table|index-device"
    )
    said = "RuntimeError: found cuda:0 and cpu"
    assert accepted(made, said) == {"created-without-device", "index-device"}
    assert "meta-tensor" in accepted(made, "RuntimeError: window on meta")
    assert "loss-or-metric-state" in accepted(made._replace(operand="self.loss_table"), said)


@pytest.mark.parametrize(
    ("line", "said", "expected"),
    [
        ("eye = torch.eye(3, device=d)  #: created-without-device|nodevice|eye|unregistered-tensor input-not-moved", "cuda:0 and cpu", set()),
        ("p = torch.ones(3, device=d)  #: created-without-device|nodevice|p", "Expected a 'cpu' device type for generator", {"generator-device"}),
        ("p = torch.ones(3, device=d)  #: created-without-device|nodevice|p", "index is on cpu", {"index-device"}),
        ("y = y.to(self.first)  #: cross-shard-op|sub:first=>last|y", "cuda:0 and cuda:1", {"input-not-moved", "input-on-wrong-shard"}),
        ("x = torch.ones(2, device=d)  #: hardcoded-device|sub:d)=>'cuda:0')|x|created-without-device cross-shard-op", "cuda:0 and cpu", set()),
    ],
)  # fmt: skip
def test_no_other_cause_is_accepted_than_can_be_seen(
    line: str, said: str, expected: set[str]
) -> None:
    (made,) = mistakes(line)
    assert accepted(made, f"RuntimeError: {said}") == expected


def test_fixes_are_those_that_mend() -> None:
    (made,) = mistakes("n = Net(device=d)  #: meta-tensor|sub:d)=>'meta')|n")
    assert "create-on-device" in mending(made, "")
    (made,) = mistakes("model = Net().to(d)  #: dataparallel-home-device|unmove|model")
    assert "single-gpu" not in mending(made, "RuntimeError: found one of them on device: cpu")
    assert "single-gpu" in mending(made, "RuntimeError: found one of them on device: cuda:1")


def test_a_line_that_is_gone_is_mended_where_its_operand_is_used() -> None:
    (made,) = mistakes("y = y.to(d)  #: input-not-moved|unmove|y\nout = net(x)\nloss = f(out, y)")
    assert (made.line, made.lines) == (2, (1,))
    (made,) = mistakes(
        "net.head = L()  #: submodule-added-after-move|below:moved|net.head\nnet.to(d)  #@moved"
    )
    assert (made.text, made.line, made.lines) == ("net.to(d)\nnet.head = L()", 2, (1,))


def test_what_shows_the_generator_is_no_report() -> None:
    assert tells_of_us('File "/x/diagnose/simulation/runner.py", line 9')
    assert not tells_of_us(TRACE)


def test_features_of_one_place_do_not_meet() -> None:
    named = {one["name"]: one for one in features()}
    assert not together(named["resume"], [named["late-head"]])
    assert not together(named["noise"], [named["noise"]])
    assert together(named["noise"], [named["late-head"]])


def test_what_takes_its_batch_at_once_is_not_loaded() -> None:
    named = {one.name: one for one in styles()}
    assert not fits_style(PIECE._replace(whole=True), named["dataparallel"])
    assert fits_style(PIECE, named["dataparallel"])


def test_incidents_are_hosts() -> None:
    found = list(incidents(Random(0)))
    assert len(found) > 60
    for one in islice(found, 40):
        assert bare(one.text) == Path(ROOT, "kb/cases", one.name, "reproduce.py").read_text()


TRACE = """Traceback (most recent call last):
  File "/home/user/project/a.py", line 3, in <module>
    print(step(x, model))
          ^^^^^^^^^^^^^^
  File "/home/user/project/a.py", line 1, in step
    return x + model.bias
           ~~^~~~~~~~~~~~
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
"""


def test_other_interpreters_print_the_same_failure(casebase: Casebase) -> None:
    def read(text: str) -> tuple[object, ...]:
        report = parse(text, knowledge=casebase.knowledge)
        assert report.error is not None
        return report.error.message, [(one.file, one.line, one.code) for one in report.frames]

    assert len(read(TRACE)[1]) == 2  # type: ignore[arg-type]
    for form in ("3.10", "3.13", "ranked", "logged"):
        assert read(formed(TRACE, form)) == read(TRACE), form
    assert "^" not in formed(TRACE, "3.10")
    assert "          ~~~~^^^^^^^^^^" in formed(TRACE, "3.13").split("\n")


def test_a_package_that_is_missing_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("transformers", "timm", "torchvision", "diffusers", "gpytorch", "peft"):
        monkeypatch.setitem(sys.modules, name, None)
        assert list(SOURCES[name][0](Random(0))) == []


def test_programs_of_plain_torch_run_and_fail_as_labelled(
    tmp_path: Path, casebase: Casebase
) -> None:
    command = [sys.executable, str(ROOT / "training/generator/make.py"), str(tmp_path)]
    command += ["--hosts", "2", "--each", "1", "--seed", "4", "--packages", "torch"]
    subprocess.run(command, check=True, capture_output=True, timeout=900)
    labelled = collect([tmp_path], known_ids(casebase))
    assert len(labelled) == 2
    for one in labelled:
        told = json.loads(one.log.with_suffix(".json").read_text())
        broken, fixed = (one.log.with_suffix(end).read_text() for end in (".py", ".fixed.py"))
        assert told["fix_line_after"] in fixed
        assert (
            told["fix_line_before"] in broken.split("\n")[told["culprit"]["line"] - 1]
            or not told["fix_line_before"]
        )
        assert one.log.read_text().rstrip().split("\n")[-1].count("Error") == 1
    summary = json.loads((tmp_path / "summary" / "summary.json").read_text())
    assert summary["pairs"] == len(labelled)
    assert summary["packages"] == 1
