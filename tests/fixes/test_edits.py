"""The edit of the user's own line: the right operand, the right device, and nothing when unsure."""

from __future__ import annotations

import ast
import re
import subprocess
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from diagnose.casebase.store import Casebase
from diagnose.fixes import edits
from diagnose.fixes.diff import edit, patch
from diagnose.fixes.edits import EDITS
from diagnose.fixes.line_gate import Refused, Site
from diagnose.model import Carets, Edit, Failure, Frame, Mismatch, Report
from diagnose.parsing.lines import Peeled
from diagnose.parsing.tracebacks import cpython
from diagnose.patterns import bare
from diagnose.scene import Place, Scene, sourceline
from diagnose.sources import Sources
from diagnose.sources.reader import Reader

LAYER = (
    Frame(
        "/x/site-packages/torch/nn/modules/module.py", 1773, "_wrapped_call_impl", library="torch"
    ),
    Frame("/x/site-packages/torch/nn/functional.py", 3504, "cross_entropy", library="torch"),
)


def edited(
    casebase: Casebase,
    kind: str,
    code: str,
    *,
    devices: tuple[str, ...] = ("cuda:0", "cpu"),
    argument: str | None = None,
    op: str | None = None,
    carets: str | None = None,
    after: tuple[Frame, ...] = (),
) -> str | None:
    """The changed line; ``carets`` underline the code as CPython does."""
    try:
        return made_of(casebase, kind, framed(code, carets), devices, argument, op, after)[0].after
    except Refused:
        return None


def framed(code: str, carets: str | None = None) -> Frame:
    """A frame as CPython prints it."""
    printed = [f'  File "pkg/model.py", line 7, in forward\n    {code}']
    if carets is not None:
        printed.append(f"    {carets}")
    lines = [Peeled(n, text) for n, text in enumerate("\n".join(printed).split("\n"), 1)]
    read = cpython.frame(lines, 0)
    return read[0] if read else Frame("pkg/model.py", 7, "forward", code)


def made_of(
    casebase: Casebase,
    kind: str,
    frame: Frame,
    devices: tuple[str, ...] = ("cuda:0", "cpu"),
    argument: str | None = None,
    op: str | None = None,
    after: tuple[Frame, ...] = (),
    read: Reader | None = None,
) -> tuple[Edit, Place]:
    """The edit of a frame's line, and the place that it is of. Raises `Refused`."""
    expected, found = devices if argument else (None, None)
    says = () if argument else ("elementwise",)
    mismatch = Mismatch(devices, op, argument, "any", expected, found, says)
    report = Report("-", Failure("RuntimeError", "..."), mismatch, (frame, *after))
    scene = Scene(report, casebase.knowledge, Sources(read=read) if read else None)
    place = scene.place(frame)
    met = scene.meeting_at(place)
    if met is None:
        raise Refused("the line does not read as Python")
    return edit(kind, Site(place, met, scene)), place


CASES = sorted((Path(__file__).parent / "edits").glob("*/*.in.py"))


class Case(NamedTuple):
    """A file ``edits/MODULE/NAME.in.py``: a comment that names the fix and what the message says of the
    line below it, and, as a comment again, the carets under that. ``NAME.out.py`` is the line that comes
    out, or why none does."""

    kind: str
    code: str
    said: dict[str, str]
    carets: str | None

    @classmethod
    def read(cls, path: Path) -> Case:
        first, code, *below = path.read_text(encoding="utf-8").splitlines()
        kind, *said = first.removeprefix("# ").split()
        pairs = dict(one.split("=", 1) for one in said)
        assert pairs.keys() <= {"devices", "argument", "op", "below"}, f"{path}: {first}"
        return cls(kind, code, pairs, below[0].replace("#", " ", 1) if below else None)

    def outcome(self, casebase: Casebase) -> str:
        said = self.said
        try:
            return made_of(
                casebase,
                self.kind,
                framed(self.code, self.carets),
                tuple(said.get("devices", "cuda:0,cpu").split(",")),
                said.get("argument"),
                said.get("op"),
                {"module": LAYER, None: ()}[said.get("below")],
            )[0].after
        except Refused as refused:
            return f"refused: {refused}"


def path_id(path: Path) -> str:
    return f"{path.parent.name}/{path.name.removesuffix('.in.py')}"


@pytest.mark.parametrize("path", CASES, ids=path_id)
def test_an_edit_gives_the_line_that_is_recorded(
    path: Path, casebase: Casebase, renew: bool
) -> None:
    out = path.with_name(path.name.replace(".in.py", ".out.py"))
    found = Case.read(path).outcome(casebase) + "\n"
    if renew:
        out.write_text(found, encoding="utf-8")
    assert found == out.read_text(encoding="utf-8")


def test_each_module_declares_its_edits_and_records_them(casebase: Casebase) -> None:
    folder = Path(edits.__file__).parent
    modules = {
        path.stem: import_module(f"{edits.__name__}.{path.stem}")
        for path in folder.glob("[a-z]*.py")
    }
    declared = [kind for module in modules.values() for kind in module.KINDS]
    assert sorted(declared) == sorted(EDITS), "an edit is not collected, or one kind has two"
    offered = {fix.kind for cause in casebase.causes.values() for fix in cause.fixes}
    assert set(EDITS) <= offered, "no cause of kb/ has such a fix"
    for name, module in modules.items():
        recorded = [Case.read(path).kind for path in CASES if path.parent.name == name]
        assert len(recorded) >= 3, name
        assert set(recorded) == set(module.KINDS), name
    outs = {path.name for path in CASES[0].parents[1].glob("*/*.out.py")}
    assert outs == {path.name.replace(".in.py", ".out.py") for path in CASES}


def test_a_fix_that_edits_no_line_says_so(casebase: Casebase) -> None:
    with pytest.raises(Refused, match="it edits no line"):
        made_of(casebase, "upgrade-library", framed("y = a + b"))


def test_what_the_host_wants_follows_no_other_operand(casebase: Casebase) -> None:
    """A library hands NumPy a tensor, beside words that are none: `order.device` would be nonsense."""
    line = "array = numpy.asarray(array, order=order, dtype=dtype)"
    assert edited(casebase, "patch-library-line", line, devices=("cuda:0",)) is None
    assert edited(casebase, "patch-library-line", "y = x + pe", devices=("cuda:0", "cpu"))


@pytest.mark.parametrize(
    "code", ["y = torch.gather(", "loss = torch.gather(input=x, dim=1, index=i)"]
)
def test_a_call_without_positional_arguments_breaks_nothing(code: str, casebase: Casebase) -> None:
    whole = cpython_reads(code)
    for kind in EDITS:
        after = edited(casebase, kind, code, argument="index", op="wrapper_CUDA_gather")
        assert after is None or (after != code and cpython_reads(after) == whole), (kind, after)


def cpython_reads(code: str) -> bool:
    """Whether CPython reads the code as a whole statement."""
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


# --- several lines, and files -----------------------------------------------------------------------

SOURCE = """\
def forward(self, x):
    for layer in self.layers:
        x = torch.where(
            self.mask,
            x + self.pe,  # learned
            x,
        )
\treturn x
""".replace("\t", "    ")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_the_diff_applies_to_the_file(
    end: str, last: bool, tmp_path: Path, casebase: Casebase
) -> None:
    source = SOURCE.replace("\n", end)
    name = "pkg/model.py"
    (tmp_path / "pkg").mkdir()
    (tmp_path / name).write_bytes((source if last else source + "done()").encode())
    frame = Frame(name, 5, "forward", "x + self.pe,  # learned")
    lines = tuple((tmp_path / name).read_bytes().decode().split("\n"))
    made, place = made_of(casebase, "move-tensor-at-line", frame, read=lambda _: lines)
    assert made.line == 5
    diff = patch(place, made)
    assert diff is not None
    for tool in (["git", "apply", "--check", "-"], ["patch", "-p1", "--binary", "--dry-run"]):
        subprocess.run(
            tool, input=diff.encode(), cwd=tmp_path / "pkg", check=True, capture_output=True
        )
    subprocess.run(["git", "apply", "-"], input=diff.encode(), cwd=tmp_path / "pkg", check=True)
    changed = (tmp_path / name).read_bytes().decode()
    assert changed == (source if last else source + "done()").replace(
        "x + self.pe,", "x + self.pe.to(x.device),"
    )


def test_a_line_that_the_file_does_not_hold_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(SOURCE)
    frame = Frame(str(path), 5, "forward", "x + self.other,")
    assert Sources().of(frame) is None


def test_only_regular_python_files_are_opened(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("y = a + b\n")
    frame = Frame(str(tmp_path / "secret.txt"), 1, "f", "y = a + b")
    device = Frame("/dev/zero", 1, "f", "y = a + b")
    for one in (frame, device):
        assert Sources().of(one) is None


def test_without_the_file_there_is_an_edit_and_no_diff(casebase: Casebase) -> None:
    frame = Frame("pkg/model.py", 7, "forward", "y = a + b")
    made, place = made_of(casebase, "move-tensor-at-line", frame)
    assert made == Edit("pkg/model.py", 7, "y = a + b", "y = a + b.to(a.device)")
    assert patch(place, made) is None


# --- properties -----------------------------------------------------------------------------------------

NAMES = st.sampled_from(
    [
        *(
            "a",
            "b.c",
            "self.w",
            "x[0]",
            "f(y)",
            "batch['ids']",
            "2",
            "(p - q)",
            "名",
            "*r",
            "z.to(d)",
        ),
        *("torch.ones(3)", "h.t()", "f'{a}'", "-k", "lambda: a", "[u, v]", "self.net(x)"),
        "a if b else c",
    ]
)
LINES = st.one_of(
    st.builds("out = {} {} {}".format, NAMES, st.sampled_from(["+", "@", "*", "<"]), NAMES),
    st.builds("{}[{}] += {}".format, NAMES, NAMES, NAMES),
    st.builds("out = torch.{}({}, dim={}, index={})".format,
              st.sampled_from(["gather", "cat", "where", "load", "zeros"]), NAMES, NAMES, NAMES),
    st.builds("m = {}({}, device_map=({}))  # ({}".format, NAMES, NAMES, NAMES, NAMES),
    st.text(max_size=80),
)  # fmt: skip
ARGUMENTS = st.sampled_from(
    [None, "index", "mat2", "self", "target", "weight", "tensors", "other", "é"]
)


MOVE = re.compile(r"(?:[\w.]+|\))\.to\([\w.]+\)")


@settings(max_examples=200, deadline=None)
@example(kind="move-input", code="(0/o)/a(o)/(p/o)", argument=None, cut=0)
@example(kind="move-tensor-at-line", code="self.A[A]/=(_/a)", argument=None, cut=0)
@given(kind=st.sampled_from(sorted(EDITS)), code=LINES, argument=ARGUMENTS, cut=st.integers(0, 60))
def test_what_is_shown_is_python_and_no_edit_of_its_own_edit(
    kind: str, code: str, argument: str | None, cut: int, casebase: Casebase
) -> None:
    for line in (code, code[:cut]):
        changed = edited(casebase, kind, line, argument=argument, op="wrapper_CUDA_mm", after=LAYER)
        if changed is None:
            continue
        before = sourceline.parse(line)
        assert before is not None
        assert "\n" not in changed
        assert changed != before.text
        assert sourceline.read(changed, before.reading) is not None
        again = edited(
            casebase, kind, changed, argument=argument, op="wrapper_CUDA_mm", after=LAYER
        )
        # One more move at most, of all that is made of the same.
        assert len({*MOVE.findall(again or "")} - {*MOVE.findall(changed)}) <= 1
        assert ").to(x.device).to(" not in (again or "")


@settings(max_examples=200, deadline=None)
@example(code="A00000000[(b) ]/0/ _", start=20, length=2)
@example(code="00(  A/A00)#", start=5, length=5)
@given(code=LINES, start=st.integers(0, 40), length=st.integers(1, 40))
def test_an_edit_changes_only_what_the_carets_underline(
    code: str, start: int, length: int, casebase: Casebase
) -> None:
    code = bare(code)  # without comments, as an answer quotes it
    line = sourceline.parse(code)
    part = sourceline.failing(line, Carets(0, start, 0, start + length)) if line else None
    changed = edited(casebase, "move-tensor-at-line", code, carets=" " * start + "^" * length)
    if line is None or not isinstance(part, ast.expr) or changed is None:
        return
    if isinstance(part, ast.Name | ast.Constant):
        return  # an operand alone fails at nothing
    begin, end = line.span(part)
    if line.text.count(line.text[begin:end]) > 1:
        return  # what is written twice is edited twice
    assert changed.startswith(line.text[:begin])
    assert changed.endswith(line.text[end:])
