"""Facts: what a report shows, with the line that shows it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose import facts
from diagnose.authoring.examples import Example, examples, mistake
from diagnose.casebase.store import Casebase
from diagnose.compiling.kbfile import files
from diagnose.model import (
    Carets,
    Failure,
    Frame,
    Knowledge,
    Line,
    Mismatch,
    Report,
    SeenTensor,
    Statement,
)
from diagnose.parsing import parse
from diagnose.scene import Scene

HERE = Path(__file__).parent
EXAMPLES = list(examples(files(HERE.parent / "kb")))
INCIDENTS = sorted(HERE.parent.glob("kb/cases/*/trace.txt"))


def report(
    *frames: Frame,
    message: str = "Expected all tensors to be on the same device",
    devices: tuple[str, ...] = ("cuda:0", "cpu"),
    op: str | None = None,
    argument: str | None = None,
    says: tuple[str, ...] = ("elementwise",),
    expected: str | None = None,
    found: str | None = None,
    **more: object,
) -> Report:
    mismatch = Mismatch(devices, op, argument, "any", expected, found, says)
    error = Failure("RuntimeError", message, "device-placement", at=9)
    return Report("-", error, mismatch, frames, **more)  # type: ignore[arg-type]


def read(given: Report, casebase: Casebase) -> dict[str, facts.Fact]:
    return facts.read(Scene(given, casebase.knowledge))


@cache
def parsed(text: str, knowledge: Knowledge) -> Report:
    """The report of a trace that several tests read."""
    return parse(text, knowledge=knowledge)


@cache
def shown(text: str, knowledge: Knowledge) -> dict[str, facts.Fact]:
    """Its facts."""
    return facts.read(Scene(parsed(text, knowledge), knowledge))


@pytest.mark.parametrize(
    ("op", "argument", "expected", "found", "fact"),
    [
        ("wrapper_CUDA_addmm", "mat1", "cpu", "cuda:0", "weight-on-cpu"),
        ("wrapper_CUDA_addmm", "mat1", "cuda:0", "cpu", "input-on-cpu"),
        ("wrapper_CUDA_mm", "mat2", "cuda:0", "cpu", "weight-on-cpu"),
        ("wrapper_CUDA__index_select", "index", "cuda:0", "cpu", "index-on-cpu"),
        ("wrapper_CUDA__index_select", "index", "cpu", "cuda:0", "table-on-cpu"),
        ("wrapper_CUDA__index_select", "index", "cuda:1", "cuda:0", "ids-across-gpus"),
        ("wrapper_CUDA_nll_loss_forward", "target", "cuda:0", "cpu", "target-on-cpu"),
        ("wrapper_CUDA_nll_loss_forward", "target", "cuda:1", "cuda:0", "target-elsewhere"),
        ("wrapper_CUDA_nll_loss_forward", "weight", "cuda:0", "cpu", "class-weight-elsewhere"),
        ("wrapper_CUDA__native_layer_norm", "weight", "cuda:0", "cpu", "weight-on-cpu"),
        ("wrapper_addmm", "mat1", "cuda:1", "cuda:0", "layer-across-gpus"),
        ("wrapper_CUDA_gather", "index", "cuda:0", "cpu", "index-argument-on-cpu"),
        ("wrapper_CUDA_gather", "index", "cpu", "cuda:0", "indexed-on-cpu"),
        ("wrapper_CUDA_index_add_", "index", "cpu", "cuda:0", "indexed-on-cpu"),
        ("wrapper_CUDA_scatter__value", "index", "cuda:0", "cpu", "index-argument-on-cpu"),
        ("wrapper_CUDA_scatter_reduce_two", "index", "cpu", "cuda:0", "indexed-on-cpu"),
    ],
)
def test_the_misplaced_operand_is_read_off_op_and_argument(
    op: str, argument: str, expected: str, found: str, fact: str, casebase: Casebase
) -> None:
    given = report(
        op=op, argument=argument, expected=expected, found=found, devices=(expected, found)
    )
    names = {
        "weight-on-cpu",
        "input-on-cpu",
        "index-on-cpu",
        "table-on-cpu",
        "target-on-cpu",
        "target-elsewhere",
        "class-weight-elsewhere",
        "ids-across-gpus",
        "layer-across-gpus",
        "index-argument-on-cpu",
        "indexed-on-cpu",
    }
    assert read(given, casebase).keys() & names == {fact}


def test_a_convolution_tells_both_sides(casebase: Casebase) -> None:
    message = (
        "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same"
    )
    given = report(devices=(), says=("input-and-weight-types",), message=message)
    assert "weight-on-cpu" in read(given, casebase)


@pytest.mark.parametrize(
    ("code", "fact", "values"),
    [
        ("x = x + self.pe[:, :n]", "uses-cached-attribute", {"name": "self.pe"}),
        ("y = x * self.gain", "uses-own-attribute", {"name": "self.gain"}),
        ("y = x * torch.ones(3)", "makes-tensor", {}),
        ("c = table[ids]", "indexes", {"name": "table", "index": "ids"}),
        ("c = self.images[ids]", "indexes-attribute", {"name": "self.images"}),
        ("y = x.to('cuda:0') + z", "names-device", {}),
        ("y = a + b", "local-operands", {}),
    ],
)
def test_the_failing_line_is_read(
    code: str, fact: str, values: dict[str, str], casebase: Casebase
) -> None:
    found = read(report(Frame("net.py", 3, "forward", code, at=4)), casebase)
    assert fact in found
    assert found[fact].line == 4
    assert values.items() <= found[fact].values.items()


@pytest.mark.parametrize(
    ("code", "fact"),
    [
        ("y = self.layer(x)", "uses-own-attribute"),
        ("y = self.block.norm(x)", "uses-own-attribute"),
        ("y = x * torch.ones(3, device=x.device)", "makes-tensor"),
        ("c = table[0] + table[:2]", "indexes"),
        ("y = a + self.b", "local-operands"),
    ],
)
def test_the_failing_line_is_not_read_into(code: str, fact: str, casebase: Casebase) -> None:
    assert fact not in read(report(Frame("net.py", 3, "forward", code)), casebase)


def test_what_fails_inside_torch_is_called_by_its_name_outside(casebase: Casebase) -> None:
    linear = "site-packages/torch/nn/modules/linear.py"
    found = read(
        report(
            Frame("net.py", 3, "forward", "return self.out_head(x)", at=2),
            Frame(linear, 125, "forward", "return F.linear(x, w)", library="torch", at=5),
        ),
        casebase,
    )
    assert found["calls-head"].values["name"] == "self.out_head"
    assert found["torch-layer"].line == 5
    assert "fails-in-own-code" in found


def test_frames_log_lines_and_ranks(casebase: Casebase) -> None:
    hook = Frame(
        "site-packages/accelerate/hooks.py", 165, "new_forward", library="accelerate", at=3
    )
    given = report(
        hook,
        devices=("cuda:1", "cuda:0"),
        context=(
            Line(
                1, "Some parameters are on the meta device because they were offloaded to the cpu."
            ),
        ),
        ranks=(1,),
    )
    found = read(given, casebase)
    assert found["accelerate-hook"].line == 3
    assert found["offload-in-log"].line == 1
    assert found["later-rank"].values["rank"] == "1"
    assert {"pair-two-gpus", "default-gpu-and-later"} <= found.keys()


def test_an_average_beside_ranks_is_more_than_each(casebase: Casebase) -> None:
    line = "found at least two devices, cuda:0 and cpu!"
    log = f"""Traceback (most recent call last):
  File "/home/u/flock.py", line 8, in <module>
    polyak.update(net)
  File "/home/u/flock.py", line 4, in update
    old.lerp_(new.detach(), 1 - self.decay)
RuntimeError: Expected all tensors to be on the same device, but {line}
"""
    alone = read(parse(log.encode(), knowledge=casebase.knowledge), casebase)
    told = "".join(f"[rank0]: {text}\n" for text in log.splitlines())
    ranked = read(parse(told.encode(), knowledge=casebase.knowledge), casebase)
    assert "average-updated" in alone
    assert "in-ranks" not in alone
    assert "operand-state" not in alone, "a rate is a number"
    assert {"in-ranks", "average-in-ranks"} <= ranked.keys()


def test_a_product_of_two_variables_has_no_layer(casebase: Casebase) -> None:
    def of(code: str) -> dict[str, facts.Fact]:
        frame = Frame("/home/u/pairs.py", 7, "align", code, at=3)
        return read(
            report(
                frame,
                op="wrapper_CUDA_mm",
                argument="mat2",
                expected="cuda:0",
                found="cuda:1",
                devices=("cuda:0", "cuda:1"),
                says=("argument",),
            ),
            casebase,
        )

    assert "layer-across-gpus" not in of("near = seen @ heard.t()")
    assert "layer-across-gpus" in of("near = seen @ self.mixing")


def test_live_tensors_name_the_odd_parameter(casebase: Casebase) -> None:
    given = report(
        tensors=(
            SeenTensor("trunk.weight", "cuda:0", "parameter"),
            SeenTensor("trunk.bias", "cuda:0", "parameter"),
            SeenTensor("out_head.weight", "cpu", "parameter"),
        )
    )
    fact = read(given, casebase)["parameter-seen"]
    assert fact.values["names"] == "out_head.weight"
    assert (fact.values["device"], fact.values["other"]) == ("cpu", "cuda:0")


@pytest.mark.parametrize(
    ("fact", "tensors"),
    [
        ("buffer-seen", [("net.scale", "cpu", "buffer")]),
        ("meta-seen", [("net.head.weight", "meta", "parameter")]),
        ("attribute-seen", [("self.table", "cpu", "attribute")]),
        ("unregistered-seen", [("self.blocks[0].weight", "cpu", "unregistered")]),
        ("local-seen", [("noise", "cpu", "local")]),
        ("state-seen", [("exp_avg of net.a.weight", "cpu", "state")]),
        ("shards-seen", [(f"net.{n}.weight", "cuda:1", "parameter") for n in range(2)]),
    ],
)
def test_live_tensors_tell_what_is_misplaced(
    fact: str, tensors: list[tuple[str, str, str]], casebase: Casebase
) -> None:
    model = [SeenTensor(f"net.{name}.weight", "cuda:0", "parameter", root="net") for name in "ab"]
    odd = [SeenTensor(name, device, kind, root="net") for name, device, kind in tensors]
    given = report(tensors=(*model, *odd))
    found = read(given, casebase)
    assert fact in found
    assert fact not in read(given._replace(tensors=tuple(model)), casebase)


def test_live_tensors_tell_a_model_that_was_never_moved(casebase: Casebase) -> None:
    tensors = tuple(SeenTensor(f"net.{n}", "cpu", "parameter", root="net") for n in range(3))
    assert "module-seen" in read(report(tensors=tensors), casebase)
    moved = tuple(tensor._replace(device="cuda:0") for tensor in tensors)
    assert "module-seen" not in read(report(tensors=moved), casebase)


def test_an_example_shows_its_fact_and_a_counter_example_does_not(casebase: Casebase) -> None:
    told = {example.way: mistake(example, casebase.knowledge) for example in EXAMPLES}
    assert {way: said for way, said in told.items() if said is not None} == {}


def test_an_example_on_the_wrong_side_is_told(casebase: Casebase) -> None:
    for example in EXAMPLES[::7]:
        wrong = example._replace(shows=not example.shows)
        assert "the fact" in (mistake(wrong, casebase.knowledge) or ""), example.way


def test_an_example_that_is_no_device_error_is_told(casebase: Casebase) -> None:
    """It would show nothing, and so hold as any counter-example."""
    example = Example("shallow", ("shallow", "not", 0), shows=False, report="ValueError: no")
    assert "no device error" in (mistake(example, casebase.knowledge) or "")


def test_no_fact_reads_the_spelling_of_a_wordings_id(casebase: Casebase) -> None:
    """What a message is about stands in a field: under any other ids the same facts hold."""
    renamed = [
        wording._replace(id=f"wording-{number}")
        for number, wording in enumerate(casebase.knowledge.wordings)
    ]
    other = casebase.knowledge.replaced(wordings=renamed)
    assert [one.way for one in EXAMPLES if mistake(one, other)] == []
    for path in (*HERE.glob("traces/**/*.txt"), *INCIDENTS):
        text = path.read_text(encoding="utf-8")
        given = parsed(text, casebase.knowledge)
        if given.mismatch is not None:
            given = given._replace(mismatch=given.mismatch._replace(wording="wording-1"))
            assert read(given, casebase) == shown(text, casebase.knowledge), path


def test_what_a_wording_is_about_is_asked_for(casebase: Casebase) -> None:
    """By a fact or by code: a word that nobody asks for is a slip of the pen."""
    told = {topic for wording in casebase.knowledge.wordings for topic in wording.says}
    asked = {rule.when["says"] for rule in casebase.knowledge.facts.values() if "says" in rule.when}
    package = HERE.parent / "src" / "diagnose"
    code = "".join(path.read_text(encoding="utf-8") for path in package.glob("**/*.py"))
    assert asked <= told
    assert [topic for topic in told - asked if f'"{topic}" in ' not in code] == []


def test_every_fact_is_of_use(casebase: Casebase) -> None:
    """It speaks for or against a cause, is a part of another fact, decides a question, comes with a
    fix that is then first or with an example of its own, or code asks for it."""
    used = {fact for cause in casebase.causes.values() for fact in cause.weights}
    used |= {fact for rule in casebase.knowledge.facts.values() for fact in (*rule.all, *rule.none)}
    used |= {
        fact for cause in casebase.causes.values() for fix in cause.fixes for fact in fix.first_with
    }
    used |= {
        fact
        for cause in casebase.causes.values()
        for fix in cause.fixes
        for example in fix.examples
        for fact in example.shown_with
    }
    questions = (HERE.parent / "kb" / "questions.toml").read_text(encoding="utf-8")
    code = "".join(
        path.read_text(encoding="utf-8")
        for path in (HERE.parent / "src" / "diagnose").glob("**/*.py")
        if path.parent.name != "facts" or path.stem == "__init__"
    )
    asked = questions + code
    assert [
        fact for fact in casebase.knowledge.facts if fact not in used and f'"{fact}"' not in asked
    ] == []


def test_every_fact_is_shown_by_a_test(casebase: Casebase) -> None:
    """By an example, by a traceback of this folder, or by name in a test of it.

    Not by an incident: what its program prints changes whenever somebody reads its thread again.
    """
    named = {example.fact for example in EXAMPLES if example.shows}
    recorded = [*HERE.glob("traces/**/*.txt")]
    recorded += [*HERE.glob("healthy/**/*.txt"), *HERE.glob("parsing/forms/*")]
    for path in recorded:
        text = path.read_text(encoding="utf-8")
        if parsed(text, casebase.knowledge).error is not None:
            named |= shown(text, casebase.knowledge).keys()
    tests = "".join(path.read_text(encoding="utf-8") for path in HERE.glob("**/test_*.py"))
    assert [
        fact for fact in casebase.knowledge.facts if fact not in named and f'"{fact}"' not in tests
    ] == []


def test_no_fact_reads_the_folder_that_an_incident_is_kept_in(casebase: Casebase) -> None:
    """It is named after what went wrong: an answer that read it off would prove nothing, and a
    user's folder of such a name is no evidence. The name of a known program is one."""
    programs = {"low-memory-program"}
    for path in INCIDENTS:
        text = path.read_text(encoding="utf-8")
        neutral = text.replace(path.parent.name, "project")
        seen = [shown(one, casebase.knowledge).keys() - programs for one in (text, neutral)]
        assert seen[0] == seen[1], path.parent.name


def test_every_declared_fact_is_declared_or_computed(casebase: Casebase) -> None:
    """A table of kb/facts.toml without matchers must be yielded somewhere in diagnose.facts."""
    folder = Path(facts.__file__).parent
    source = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    computed = [
        rule.id
        for rule in casebase.knowledge.facts.values()
        if not rule.when and not rule.frame and not rule.all
    ]
    missing = [
        name for name in computed if f'"{name}"' not in source and not name.endswith("-seen")
    ]
    assert computed
    assert not missing


def stray_operands(given: Report, casebase: Casebase) -> tuple[str, ...]:
    return Scene(given, casebase.knowledge).strays


LAYER = Frame("/x/site-packages/torch/nn/functional.py", 9, "linear", library="torch")


@pytest.mark.parametrize(
    ("code", "op", "argument", "expected", "found", "operands"),
    [
        # A role of torch's own function, of an operator, of a layer.
        ("z = F.linear(x, self.lora_B)", "wrapper_CUDA_mm", "mat2", "cuda:0", "cpu", ("self.lora_B",)),
        ("z = flat @ self.codebook.t()", "wrapper_CUDA_mm", "mat2", "cuda:0", "cpu", ("self.codebook.t()",)),
        ("h = self.wte(ids)", "wrapper_CUDA__index_select", "index", "cuda:0", "cpu", ("ids",)),
        ("h = self.wte(ids)", "wrapper_CUDA__index_select", "index", "cpu", "cuda:0", ("self.wte(…)",)),
        ("h = self.wte(ids)", "wrapper_CUDA__index_select", "index", "cuda:1", "cuda:0", ("self.wte(…)", "ids")),
        ("F.cross_entropy(out, labels)", "wrapper_CUDA_nll_loss_forward", "target", "cuda:0", "cpu", ("labels",)),
        # Of a list of two, the message tells which: the first is named by what others are compared with.
        ("m = torch.cat([mask, x], dim=1)", "wrapper_CUDA_cat", "tensors", "cpu", "cuda:0", ("mask",)),
        ("m = torch.cat([x, mask], dim=1)", "wrapper_CUDA_cat", "tensors", "cuda:0", "cpu", ("mask",)),
        # An elementwise operation names the GPU first whatever the order: all operands, no numbers.
        ("q = r + self.discount * (1 - d) * q2", None, None, None, None, ("r", "q2", "self.discount", "d")),
        ("x = x + self.pe[:, : x.size(1)]", None, None, None, None, ("x", "self.pe[:, : x.size(1)]")),
        # A cut line tells what it shows; one that calls several things nothing.
        ("locations[..., :2] * (", None, None, None, None, ("locations[..., :2]",)),
        ("return self.fc(self.pool(x))", "wrapper_CUDA_addmm", "mat1", "cpu", "cuda:0", ()),
    ],
)  # fmt: skip
def test_the_line_shows_what_stood_at_the_misplaced_operands_place(
    code: str, op: str | None, argument: str | None, expected: str | None, found: str | None,
    operands: tuple[str, ...], casebase: Casebase,
) -> None:  # fmt: skip
    frames = [Frame("net.py", 3, "forward", code)]
    if "self.wte" in code or "self.fc" in code:
        frames.append(LAYER)
    says = () if op else ("elementwise",)
    shown = report(
        *frames, op=op, argument=argument, expected=expected, found=found, says=says,
        devices=(expected or "cuda:0", found or "cpu"),
    )  # fmt: skip
    assert set(stray_operands(shown, casebase)) == set(operands)


@settings(max_examples=300, deadline=None)
@given(code=st.text(max_size=80), op=st.sampled_from([None, "wrapper_CUDA_mm", "wrapper_CUDA_cat"]))
def test_any_line_is_read_without_an_error(code: str, op: str | None, casebase: Casebase) -> None:
    argument = {"wrapper_CUDA_mm": "mat2", "wrapper_CUDA_cat": "tensors"}.get(op or "")
    frame = Frame("net.py", 3, "forward", code)
    shown = report(frame, op=op, argument=argument, expected="cuda:0", found="cpu")
    for operand in stray_operands(shown, casebase):
        assert operand.removesuffix("(…)") in code


def test_a_combination_holds_only_while_its_parts_do(casebase: Casebase) -> None:
    loop = Frame("net.py", 3, "forward", "x = layer(x)")
    sides = {"op": "wrapper_CUDA_addmm", "argument": "mat1"}
    on_cpu = report(loop, LAYER, expected="cpu", found="cuda:0", devices=("cpu", "cuda:0"), **sides)
    moved = report(loop, LAYER, expected="cuda:0", found="cpu", devices=("cuda:0", "cpu"), **sides)
    assert "listed-weight-on-cpu" in read(on_cpu, casebase)
    assert "calls-loop-module" in read(moved, casebase)
    assert "listed-weight-on-cpu" not in read(moved, casebase)


def test_a_combination_gives_way_to_what_it_excludes(casebase: Casebase) -> None:
    own = Frame("net.py", 3, "forward", "h = x + residual")
    hook = Frame("/x/site-packages/accelerate/hooks.py", 9, "new_forward", library="accelerate")
    gpus = ("cuda:0", "cuda:1")
    assert "shards-by-hand" in read(report(own, devices=gpus), casebase)
    assert "shards-by-hand" not in read(report(hook, own, devices=gpus), casebase)


@pytest.mark.parametrize(
    ("code", "function", "name"),
    [
        ("y = y + block(y)", "forward", "block"),
        ("maps = [conv(f) for conv, f in zip(self.lateral, feats)]", "<listcomp>", "conv"),
        ("return {k: head(z) for k, head in self.heads.items()}", "<dictcomp>", "head"),
        ("return self.block(y)", "forward", None),
        ("y = block(y)", "main", None),
    ],
)
def test_a_layer_out_of_a_loop_is_told_from_one_of_the_module(
    code: str, function: str, name: str | None, casebase: Casebase
) -> None:
    found = read(report(Frame("net.py", 3, function, code)), casebase)
    assert (found["calls-loop-module"].values["name"] if name else None) == name
    assert ("calls-loop-module" in found) == bool(name)


def test_the_loss_that_fails_inside_is_told_from_one_that_is_only_called(
    casebase: Casebase,
) -> None:
    call = Frame("train.py", 8, "train", "loss = criterion(out, y)")
    inside = Frame("ssim.py", 4, "forward", "return x - self.window")
    assert "inside-criterion" in read(report(call, inside), casebase)
    assert "inside-criterion" not in read(report(call), casebase)
    assert "inside-criterion" not in read(report(inside, call), casebase)


@pytest.mark.parametrize(
    ("code", "carets", "inside"),
    [
        ("loss = criterion(out.view(-1, 8), y).mean()", None, True),
        ("loss = criterion(net(x), y)", None, False),
        ("loss = criterion(net(x), y)", "net(x)", False),
        ("loss = criterion(net(x), y)", "criterion(net(x), y)", True),
        ("loss = triplet(z, y) + spread(z, y)", "spread(z, y)", True),
        ("out = triplet(z, y) + spread(z, y)", "spread(z, y)", False),
        ("loss = F.cross_entropy(net(x, y), y)", "net(x, y)", False),
        ("loss = spread(z, far)", "spread(z, far)", False),
    ],
)
def test_what_a_line_hands_to_the_loss_may_fail_in_its_place(
    code: str, carets: str | None, inside: bool, casebase: Casebase
) -> None:
    at = code.find(carets) if carets else 0
    shown = Carets(0, at, 0, at + len(carets)) if carets else None
    call = Frame("train.py", 8, "train", code, statement=Statement(code, carets=shown))
    passed = Frame("/site-packages/torch/nn/modules/module.py", 3, "_call_impl", library="torch")
    entered = Frame("net.py", 4, "forward", "return x - self.window")
    assert ("inside-criterion" in read(report(call, passed, entered), casebase)) == inside


def test_a_method_that_is_called_like_a_loss_is_no_loss(casebase: Casebase) -> None:
    call = Frame("train.py", 8, "train", "loss = compute_loss(net, x, y)")
    method = Frame("train.py", 3, "compute_loss", "out = net(x)")
    entered = Frame("net.py", 4, "forward", "return x - self.window")
    assert "inside-criterion" not in read(report(call, method, entered), casebase)


def underlined(file: str, function: str, code: str, carets: str) -> Frame:
    at = code.find(carets)
    statement = Statement(code, carets=Carets(0, at, 0, at + len(carets)))
    return Frame(file, 8, function, code, statement=statement)


PASSED = Frame("/site-packages/torch/nn/modules/module.py", 3, "_call_impl", library="torch")


@pytest.mark.parametrize(
    ("code", "carets", "listed"),
    [
        ("h = q(h)", "q(h)", True),  # whatever it is called, it is no attribute
        ("h = self.q(h)", "self.q(h)", False),
        ("h = shrink(q(h))", "shrink(q(h))", True),
        ("h = q(h) + z", "q(h) + z", False),
    ],
)
def test_a_layer_that_is_a_variable_comes_from_a_list(
    code: str, carets: str, listed: bool, casebase: Casebase
) -> None:
    call = underlined("net.py", "forward", code, carets)
    inner = Frame("part.py", 4, "forward", "return x - z")
    assert ("calls-loop-module" in read(report(call, PASSED, inner), casebase)) == listed
    assert "calls-loop-module" not in read(report(call, inner), casebase)


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ("s = s + self.bias[:, :n, :n]", True),
        ("s = s + self.bias", False),
        ("s = s + self.bias[0]", False),
    ],
)
def test_a_bias_that_is_cut_in_several_dimensions_is_a_table(
    code: str, kept: bool, casebase: Casebase
) -> None:
    found = read(report(Frame("net.py", 4, "forward", code)), casebase)
    assert ("uses-cached-attribute" in found) == kept


@pytest.mark.parametrize(
    ("call", "moves"),
    [
        ("y = rate(net(x.to(device)), t.to(device))", True),
        ("y = rate(net(x.to(device)), t)", False),
        ("y = rate(net(x), t.to(device))", False),
        ("y = rate(net(x.to(device), 4), t.to(device))", True),
    ],
)
def test_what_a_network_makes_of_moved_inputs_was_moved(
    call: str, moves: bool, casebase: Casebase
) -> None:
    caller = Frame("fit.py", 9, "fit", call)
    inner = Frame("fit.py", 4, "rate", "return a - b")
    assert ("call-moves-arguments" in read(report(caller, inner), casebase)) == moves
