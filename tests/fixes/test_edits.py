"""The edit of the user's own line: the right operand, the right device, and nothing when unsure."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose import sourceline
from diagnose.casebase.store import Casebase
from diagnose.facts.stray import meeting
from diagnose.fixes.diff import edit, patch
from diagnose.fixes.editing import Refused, Site
from diagnose.fixes.edits import EDITS
from diagnose.model import Carets, Edit, Failure, Frame, Mismatch, Report
from diagnose.parsing.lines import Peeled
from diagnose.parsing.tracebacks import cpython
from diagnose.sources import completed

LAYER = (
    Frame(
        "/x/site-packages/torch/nn/modules/module.py", 1773, "_wrapped_call_impl", library="torch"
    ),
    Frame("/x/site-packages/torch/nn/functional.py", 3504, "cross_entropy", library="torch"),
)
ELEMENTWISE = "torch.tensor_iterator.same_device"


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
    printed = [f'  File "pkg/model.py", line 7, in forward\n    {code}']
    if carets is not None:
        printed.append(f"    {carets}")
    lines = [Peeled(n, text) for n, text in enumerate("\n".join(printed).split("\n"), 1)]
    read = cpython.frame(lines, 0)
    frame = read[0] if read else Frame("pkg/model.py", 7, "forward", code)
    made = made_in(casebase, kind, frame, devices, argument, op, after)
    return made and made.after


def made_in(
    casebase: Casebase,
    kind: str,
    frame: Frame,
    devices: tuple[str, ...] = ("cuda:0", "cpu"),
    argument: str | None = None,
    op: str | None = None,
    after: tuple[Frame, ...] = (),
) -> Edit | None:
    expected, found = devices if argument else (None, None)
    wording = "torch.common_device.v1" if argument else ELEMENTWISE
    mismatch = Mismatch(devices, op, argument, wording, expected, found)
    report = Report("-", Failure("RuntimeError", "..."), mismatch, (frame, *after))
    met = meeting(frame, report, casebase.knowledge.operands)
    if met is None:
        return None
    try:
        return edit(kind, Site(frame, met, report))
    except Refused:
        return None


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("cur[0][i, :] += delta", "cur[0][i, :] += delta.to(cur[0].device)"),
        ("x = x + self.pe[:, : x.size(1)]", "x = x + self.pe[:, : x.size(1)].to(x.device)"),
        ("return (x - self.mean) / self.std", "return (x - self.mean.to(x.device)) / self.std"),
        ("t = (q * cos) + (turn(q) * sin)", "t = (q * cos.to(q.device)) + (turn(q) * sin)"),
        ("loss = a + b + c", "loss = a + b.to(a.device) + c.to(a.device)"),
        ("y = (a + b) @ w", "y = (a + b.to(a.device)) @ w"),
        ("elif (x - y).sum() > 1:", "elif (x - y.to(x.device)).sum() > 1:"),
        ("else a + b", "else a + b.to(a.device)"),
        ("h = f(a * b,  # the gate", "h = f(a * b.to(a.device),  # the gate"),
        ("y = 名前 + bé.c  # é", "y = 名前 + bé.c.to(名前.device)  # é"),
        ("y = x.to(device) + pe", "y = x.to(device) + pe.to(device)"),
    ],
)
def test_the_stray_operand_follows_the_other(code: str, expected: str, casebase: Casebase) -> None:
    assert edited(casebase, "move-tensor-at-line", code) == expected


@pytest.mark.parametrize(
    ("code", "carets", "expected"),
    [
        # The second product failed, not the first.
        ("y = a * b + c * d", "            ~~^~~", "y = a * b + c * d.to(c.device)"),
        # The sum failed: what it adds are a product and a name.
        ("y = a * b + c", "    ~~~~~~^~~", "y = a * b + c.to(a.device)"),
        # What is made in the line moves, not the batch.
        (
            "y = (torch.rand(3) * real + fake)",
            "     ~~~~~~~~~~~~~~^~~~~~",
            "y = (torch.rand(3).to(real.device) * real + fake)",
        ),
        # Wide characters take two columns under carets.
        ("y = 名 * b + c * d", "             ~~^~~", "y = 名 * b + c * d.to(c.device)"),
    ],
)
def test_carets_say_which_operation_failed(
    code: str, carets: str, expected: str, casebase: Casebase
) -> None:
    assert edited(casebase, "move-tensor-at-line", code, carets=carets) == expected


def test_the_argument_that_the_message_names_is_the_operand(casebase: Casebase) -> None:
    changed = edited(
        casebase,
        "move-tensor-at-line",
        "y = self.scale * z @ p.t()",
        carets="    ~~~~~~~~~~~~~~~^~~~~~~",
        argument="mat2",
        op="wrapper_CUDA_mm",
    )
    assert changed == "y = self.scale * z @ p.t().to(z.device)"


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        (("cpu", "cuda:0"), "m = torch.cat([p.to(m.device), m], 1)"),
        (("cuda:0", "cpu"), "m = torch.cat([p, m.to(p.device)], 1)"),
    ],
)
def test_the_message_says_which_element_of_a_list_is_misplaced(
    devices: tuple[str, ...], expected: str, casebase: Casebase
) -> None:
    code = "m = torch.cat([p, m], 1)"
    assert edited(casebase, "move-tensor-at-line", code, devices=devices) == expected
    named = {"devices": devices, "argument": "tensors", "op": "wrapper_CUDA_cat"}
    assert edited(casebase, "move-tensor-at-line", code, **named) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("op", "argument", "code", "expected"),
    [
        (
            "wrapper_CUDA_nll_loss_forward",
            "target",
            "loss = criterion(out, y)",
            "loss = criterion(out, y.to(out.device))",
        ),
        (
            "wrapper_CUDA_nll_loss_forward",
            "weight",
            "l = F.cross_entropy(out, y, weight=self.w)",
            "l = F.cross_entropy(out, y, weight=self.w.to(out.device))",
        ),
        (
            "wrapper_CUDA_gather",
            "index",
            "p = logp.gather(-1, ids)",
            "p = logp.gather(-1, ids.to(logp.device))",
        ),
        (
            "wrapper_CUDA_gather",
            "index",
            "p = torch.gather(input=logp, dim=-1, index=ids)",
            "p = torch.gather(input=logp, dim=-1, index=ids.to(logp.device))",
        ),
        (
            "wrapper_CUDA_scatter__src",
            "src",
            "out.scatter_(1, ids, rows)",
            "out.scatter_(1, ids, rows.to(out.device))",
        ),
        ("wrapper_CUDA_bmm", "mat2", "s = torch.bmm(q, k)", "s = torch.bmm(q, k.to(q.device))"),
        (
            "wrapper_CUDA___cdist_forward",
            "x2",
            "d = torch.cdist(z, centers)",
            "d = torch.cdist(z, centers.to(z.device))",
        ),
    ],
)
def test_the_argument_that_the_message_names_moves(
    op: str, argument: str, code: str, expected: str, casebase: Casebase
) -> None:
    kind = "move-tensor-at-line"
    assert edited(casebase, kind, code, argument=argument, op=op, after=LAYER) == expected


@pytest.mark.parametrize(
    ("kind", "code", "expected"),
    [
        ("index-to-device", "w = table[ids]", "w = table[ids.to(table.device)]"),
        ("create-on-device", "y = x * torch.ones(3)", "y = x * torch.ones(3, device=x.device)"),
        ("create-on-device", "y = x * torch.Tensor([1])", "y = x * torch.Tensor([1]).to(x.device)"),
        (
            "create-on-device",
            "y = cfg.scale * torch.ones(3)",
            "y = cfg.scale * torch.ones(3, device=cfg.scale.device)",
        ),
        ("use-like-device-of-other", "h = f(x, z.to('cuda'))", "h = f(x, z.to(x.device))"),
        ("cpu-before-numpy", "y = x.detach().numpy()", "y = x.detach().cpu().numpy()"),
        ("cpu-before-numpy", "y = np.array(x)", "y = np.array(x.detach().cpu().numpy())"),
        ("map-location", "s = torch.load(p)", 's = torch.load(p, map_location="cpu")'),
        ("no-to-on-quantized", "model = model.to(device)", "model = model"),
        ("no-to-on-quantized", "model.to(device)", "pass  # model stays where it was loaded"),
        ("drop-device-map", 'm = load(p, device_map="auto", x=1)', "m = load(p, x=1)"),
        ("drop-device-map", "m = load(p, device_map='auto',)", "m = load(p)"),
        ("drop-device-map", 'm = load(device_map=("auto" if n > 1 else None))', "m = load()"),
        (
            "pin-device-map",
            'm = load(p, device_map=("auto"))',
            'm = load(p, device_map=({"": torch.cuda.current_device()}))',
        ),
    ],
)
def test_each_kind_of_fix_makes_its_edit(
    kind: str, code: str, expected: str, casebase: Casebase
) -> None:
    assert edited(casebase, kind, code) == expected


def test_an_input_moves_to_the_module_that_the_traceback_shows(casebase: Casebase) -> None:
    expected = "out = model(ids.to(next(model.parameters()).device))"
    assert edited(casebase, "move-input", "out = model(ids)", after=LAYER) == expected
    assert edited(casebase, "move-input", "out = model(ids)") is None, (
        "a function, for all one sees"
    )


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("move-tensor-at-line", "return self.layer(x)"),
        ("move-tensor-at-line", "y = 2 * 3"),
        ("move-tensor-at-line", "this is not python"),
        # Cut off: what stands after the bracket is not known.
        ("move-tensor-at-line", "hidden = residual + self.mlp("),
        ("move-tensor-at-line", "return a +"),
        ("index-to-device", "patch = resized["),
        # Aligned already.
        ("move-tensor-at-line", "y = x + pe.to(x.device)"),
        ("index-to-device", "w = table[ids.to(table.device)]"),
        # No tensors, as their names and forms say.
        ("move-tensor-at-line", "n = tokenizer + config"),
        ("move-tensor-at-line", "y = x * lr"),
        ("move-tensor-at-line", "s = 'a' + f(b)"),
        ("move-tensor-at-line", "y = self.encoder(x) + tokens"),
        # An f-string has no columns before 3.12.
        ("move-tensor-at-line", "print(f'{a + b}')"),
        ("map-location", "s = torch.load(p, map_location=device)"),
        ("map-location", "s = torch.load()"),
        ("map-location", "s = torch.load(*paths)"),
        ("create-on-device", "y = torch.ones(3)"),
        ("cpu-before-numpy", "y = x.cpu().numpy()"),
        ("cpu-before-numpy", "y = np.load(path)"),
        ("drop-device-map", "m = load(p"),
        ("upgrade-library", "y = a + b"),
    ],
)
def test_no_edit_where_the_line_does_not_show_enough(
    kind: str, code: str, casebase: Casebase
) -> None:
    assert edited(casebase, kind, code) is None


@pytest.mark.parametrize(
    "code", ["y = torch.gather(", "loss = torch.gather(input=x, dim=1, index=i)"]
)
def test_a_call_without_positional_arguments_breaks_nothing(code: str, casebase: Casebase) -> None:
    for kind in EDITS:
        edited(casebase, kind, code, argument="index", op="wrapper_CUDA_gather")


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
    report = Report("-", frames=(frame,))
    lines = (tmp_path / name).read_bytes().decode().split("\n")
    [frame] = completed(report, lambda _: lines).frames
    made = made_in(casebase, "move-tensor-at-line", frame)
    assert made is not None and made.line == 5
    diff = patch(frame, made)
    assert diff is not None
    for tool in (["git", "apply", "--check", "-"], ["patch", "-p1", "--binary", "--dry-run"]):
        subprocess.run(tool, input=diff.encode(), cwd=tmp_path, check=True, capture_output=True)
    subprocess.run(["git", "apply", "-"], input=diff.encode(), cwd=tmp_path, check=True)
    changed = (tmp_path / name).read_bytes().decode()
    assert changed == (source if last else source + "done()").replace(
        "x + self.pe,", "x + self.pe.to(x.device),"
    )


def test_a_line_that_the_file_does_not_hold_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(SOURCE)
    frame = Frame(str(path), 5, "forward", "x + self.other,")
    assert completed(Report("-", frames=(frame,))).frames == (frame,)


def test_only_regular_python_files_are_opened(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("y = a + b\n")
    frame = Frame(str(tmp_path / "secret.txt"), 1, "f", "y = a + b")
    device = Frame("/dev/zero", 1, "f", "y = a + b")
    for one in (frame, device):
        assert completed(Report("-", frames=(one,))).frames == (one,)


def test_without_the_file_there_is_an_edit_and_no_diff(casebase: Casebase) -> None:
    frame = Frame("pkg/model.py", 7, "forward", "y = a + b")
    made = made_in(casebase, "move-tensor-at-line", frame)
    assert made == Edit("pkg/model.py", 7, "y = a + b", "y = a + b.to(a.device)")
    assert patch(frame, made) is None


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


@pytest.mark.parametrize(
    ("kind", "code", "reason"),
    [
        (
            "move-tensor-at-line",
            "y = x.cuda() + w.to(d)",
            "x.cuda() and w.to(d) are placed already",
        ),
        ("move-tensor-at-line", "y = torch.cat([x, model])", "model does not read like a tensor"),
        ("move-tensor-at-line", 'f"{x + y}"', "what is to change stands in an f-string"),
        ("move-tensor-at-line", "y = a", "the line shows no two operands that meet"),
        ("map-location", "s = torch.load(p, map_location=d)", "torch.load says already where"),
        ("map-location", "s = pickle.load(p)", "the line has no torch.load"),
        ("create-on-device", "y = torch.zeros(3)", "the line makes no tensor that meets one"),
        ("drop-device-map", "m = load(p)", "the line has no device_map="),
        ("upgrade-library", "y = a + b", "it edits no line"),
    ],
)
def test_a_refusal_says_why(kind: str, code: str, reason: str, casebase: Casebase) -> None:
    frame = Frame("pkg/model.py", 7, "forward", code)
    mismatch = Mismatch(("cuda:0", "cpu"), None, None, "torch.common_device.v1")
    report = Report("-", Failure("RuntimeError", "..."), mismatch, (frame,))
    met = meeting(frame, report, casebase.knowledge.operands)
    assert met is not None
    with pytest.raises(Refused, match=f"^{re.escape(reason)}"):
        edit(kind, Site(frame, met, report))


@settings(max_examples=400, deadline=None)
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
        assert again is None or again.count(".to(") - changed.count(".to(") <= 1
        assert ").to(x.device).to(" not in (again or "")


@settings(max_examples=200, deadline=None)
@given(code=LINES, start=st.integers(0, 40), length=st.integers(1, 40))
def test_an_edit_changes_only_what_the_carets_underline(
    code: str, start: int, length: int, casebase: Casebase
) -> None:
    line = sourceline.parse(code)
    part = sourceline.failing(line, Carets(0, start, 0, start + length)) if line else None
    changed = edited(casebase, "move-tensor-at-line", code, carets=" " * start + "^" * length)
    if line is None or not isinstance(part, ast.expr) or changed is None:
        return
    begin, end = line.span(part)
    assert changed.startswith(line.text[:begin])
    assert changed.endswith(line.text[end:])
