"""The rendered answer, letter by letter (golden files), and that nothing in a log can steer it.

Renew the golden files with ``python -m pytest tests/rendering --renew`` and read the difference.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.model import (
    Diagnosis,
    Edit,
    Evidence,
    Failure,
    Fix,
    Frame,
    IncidentMatch,
    Met,
    Mismatch,
    Question,
    RankedCause,
    Reply,
    Report,
)
from diagnose.rendering import full, json, markdown, text
from diagnose.rendering.words import clean, percent, width, wrap

GOLDEN = Path(__file__).parent / "golden"

FRAME = Frame(
    "easyeditor/models/memit/compute_z.py", 108, "edit_output_fn", "cur_out[0][i, :] += delta"
)
REPORT = Report(
    "-",
    Failure(
        "RuntimeError",
        "Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cuda:0!",
        "device-placement",
        21,
    ),
    Mismatch(("cuda:1", "cuda:0"), None, None, "torch.tensor_iterator.same_device"),
    (FRAME,),
    ("easyeditor", "transformers", "accelerate", "torch"),
    fallout=(
        Failure("torch.distributed.DistBackendError", "NCCL error", "collective-communication", 40),
        Failure("torch.distributed.DistBackendError", "NCCL error", "collective-communication", 52),
        Failure("ChildFailedError", "train.py FAILED", "process-failed", 71),
    ),
    ranks=(0, 2),
)
CAUSES = (
    RankedCause(
        "cross-shard-op",
        "Tensors from two model shards are combined",
        "The model is split over GPUs, and a line joins tensors of two of them.",
        0.94,
        (Evidence("accelerate's hooks run this model.", 14), Evidence("Two GPUs met.", None)),
        (
            IncidentMatch(
                "easyedit",
                "EasyEdit: MEMIT on 4 GPUs",
                "https://github.com/zjunlp/EasyEdit/issues/419",
                0.91,
            ),
        ),
        (
            Fix(
                "move-tensor-at-line",
                "Move one operand to the other's device.",
                edit=Edit(
                    "compute_z.py",
                    108,
                    "cur_out[0][i, :] += delta",
                    "cur_out[0][i, :] += delta.to(cur_out[0].device)",
                ),
            ),
            Fix(
                "single-gpu",
                "Show the program one GPU.",
                command="CUDA_VISIBLE_DEVICES=0 python edit.py",
            ),
            Fix(
                "change-device-map",
                "Keep the parts together.",
                code="- a = 1\n+ a = 2",
                example=True,
            ),
        ),
        "print('PASS')\n",
    ),
    RankedCause(
        "input-on-wrong-shard",
        "The inputs are on another device than the first shard",
        "The caller's inputs are elsewhere.",
        0.04,
        (),
        (),
        (Fix("move-input", "Move the inputs."),),
        "",
        "More likely if the failing frame is the embedding.",
    ),
)
QUESTIONS = (
    Question(
        "operand-origin",
        "Where does delta, the operand that the failing line adds to cur_out[0], come from?",
        (
            Reply("from the batch", ("input-on-wrong-shard",)),
            Reply("it is the output of another layer, or of a network", ("cross-shard-op",)),
            Reply(
                "made in this call by a factory of torch, or kept from a call that went before",
                ("hardcoded-device", "created-without-device"),
            ),
        ),
        code="print(delta.device)",
        place="compute_z.py:108",
    ),
    Question(
        "placement",
        "Over which devices is the model spread?",
        (Reply("several GPUs", ("cross-shard-op",)), Reply("one", ("hardcoded-device",))),
        code="devices = {p.device for p in model.parameters()}\nprint(devices)",
    ),
    Question(
        "one-gpu",
        "How does the job end with one visible GPU?",
        (Reply("it passes", ("cross-shard-op",)), Reply("in the same way", ("rank-device",))),
        command="CUDA_VISIBLE_DEVICES=0 python edit.py",
    ),
)
STOPGAP = CAUSES[0]._replace(
    id="unregistered-tensor",
    title="A plain tensor attribute stays behind when the model moves",
    fixes=(
        CAUSES[0].fixes[0]._replace(stopgap=True),
        CAUSES[0].fixes[0]._replace(kind="create-on-device", title="Make it there."),
        Fix("register-buffer", "Register the tensor as a buffer."),
    ),
)
#: A traceback that was pasted without the names of its files.
NAMELESS = FRAME._replace(file="", line=None)
UNPLACED = CAUSES[0]._replace(
    fixes=(
        CAUSES[0]
        .fixes[0]
        ._replace(
            edit=Edit("", None, "cur_out[0] += delta", "cur_out[0] += delta.to(cur_out[0].device)")
        ),
    )
)
MET = (Met("cur_out[0][i, :]", "cuda:1"), Met("delta", "cuda:0"))
ANSWERS = {
    "diagnosed": Diagnosis(REPORT, "diagnosed", FRAME, CAUSES, met=MET),
    "diagnosed-zh": Diagnosis(REPORT, "diagnosed", FRAME, CAUSES, lang="zh", met=MET),
    "unknown": Diagnosis(REPORT, "unknown", FRAME, CAUSES[1:], CAUSES[0].incidents),
    "unsure": Diagnosis(REPORT, "diagnosed", FRAME, CAUSES[1:], questions=QUESTIONS),
    "unsure-zh": Diagnosis(REPORT, "unknown", FRAME, CAUSES[1:], lang="zh", questions=QUESTIONS),
    "stopgap": Diagnosis(REPORT, "diagnosed", FRAME, (STOPGAP,), met=MET),
    "stopgap-zh": Diagnosis(REPORT, "diagnosed", FRAME, (STOPGAP,), lang="zh", met=MET),
    "unplaced": Diagnosis(REPORT._replace(frames=(NAMELESS,)), "diagnosed", NAMELESS, (UNPLACED,)),
    "other-family": Diagnosis(
        Report("-", Failure("KeyError", "'labels'", "missing-name", 3), frames=(FRAME,)),
        "unknown",
        FRAME,
        advice=(
            "A key of that name is not there: look at what the object really holds, and where it was filled.",
            "`python -m pdb -c continue train.py` stops there; `p list(batch)` shows the keys.",
            "Usually it was spelled differently.",
        ),
    ),
    "no-error": Diagnosis(Report("train.log"), "no-error"),
}


def compare(name: str, shown: str, renew: bool) -> None:
    path = GOLDEN / name
    if renew:
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ANSWERS)
def test_text(name: str, renew: bool) -> None:
    compare(f"{name}.txt", text.render(ANSWERS[name]), renew)


@pytest.mark.parametrize("name", ANSWERS)
def test_full(name: str, renew: bool) -> None:
    compare(f"{name}-full.txt", full.render(ANSWERS[name]), renew)


def test_text_in_colour(renew: bool) -> None:
    compare("diagnosed-color.txt", text.render(ANSWERS["diagnosed"], color=True), renew)
    compare("unsure-color.txt", text.render(ANSWERS["unsure"], color=True), renew)
    compare("diagnosed-full-color.txt", full.render(ANSWERS["diagnosed"], color=True), renew)
    compare("unsure-full-color.txt", full.render(ANSWERS["unsure"], color=True), renew)


def test_json_of_questions() -> None:
    first, second, third = json.as_dict(ANSWERS["unsure"])["questions"]
    assert first["answers"][2] == {
        "text": "made in this call by a factory of torch, or kept from a call that went before",
        "causes": ["hardcoded-device", "created-without-device"],
    }
    assert (first["code"], first["place"]) == ("print(delta.device)", "compute_z.py:108")
    assert (second["place"], second["command"]) == (None, None)
    assert third["command"] == "CUDA_VISIBLE_DEVICES=0 python edit.py"
    assert json.as_dict(ANSWERS["diagnosed"])["questions"] == []


def test_text_on_a_wide_terminal(renew: bool) -> None:
    compare("diagnosed-120.txt", text.render(ANSWERS["diagnosed"], columns=120), renew)


@pytest.mark.parametrize("name", ANSWERS)
def test_markdown(name: str, renew: bool) -> None:
    compare(f"{name}.md", markdown.render(ANSWERS[name]), renew)


@pytest.mark.parametrize("columns", [80, 100, 120])
@pytest.mark.parametrize("name", ["diagnosed", "diagnosed-zh", "unknown", "unsure", "unsure-zh"])
def test_lines_fit(name: str, columns: int) -> None:
    for form in (text, full):
        for line in form.render(ANSWERS[name], columns=columns).splitlines():
            assert width(line) <= columns or "https://" in line or ".to(" in line


def hostile(value: str) -> Diagnosis:
    frame = Frame(value, 3, value, value, at=2)
    report = Report(
        value,
        Failure(value or "E", value, "device-placement", 1),
        REPORT.mismatch,
        (frame,),
        (value,),
    )
    cause = RankedCause(
        "cross-shard-op",
        "t",
        "w",
        0.5,
        (Evidence(value, 1),),
        (),
        (Fix("other", "t", edit=Edit(value, 3, value, value + "x")),),
        "",
    )
    asked = Question("q", value, (Reply(value, ("cross-shard-op",)),), code=value, place=value)
    run = Question("q", value, (Reply("yes", ("cross-shard-op",)),), command=value)
    return Diagnosis(report, "diagnosed", frame, (cause,), questions=(asked, run))


@given(st.text(st.characters(), max_size=60))
def test_control_characters_never_reach_a_terminal(value: str) -> None:
    for form in (text, full):
        for shown in (hostile(value), hostile(value)._replace(verdict="unknown")):
            assert all(c.isprintable() for c in form.render(shown).replace("\n", ""))


@given(st.text("`~<>&|*_[]()!#\\ ab\n", max_size=60))
def test_markdown_from_a_log_opens_no_tag_and_closes_no_fence(value: str) -> None:
    fence = ""
    page = markdown.render(hostile(value))
    folds = ["<details><summary>All causes, facts and fixes</summary>", "</details>"]
    lines = page.splitlines()
    assert [line for line in lines if line in folds] == folds
    for line in lines:
        ticks = len(line) - len(line.lstrip("`"))
        if not fence and ticks >= 3:
            fence = "`" * ticks
        elif fence and line == fence:
            fence = ""
        elif not fence:
            bare = line.replace("\\<", "").split("`")[0]
            assert "<" not in bare or line in folds
    assert fence == ""


@given(st.text(max_size=200), st.integers(20, 100))
def test_wrapping_loses_no_word(value: str, columns: int) -> None:
    flat = clean(value)
    assert "".join("".join(wrap(flat, columns)).split()) == "".join(flat.split())


@pytest.mark.parametrize(
    ("confidence", "shown"), [(0.9999, "99%"), (0.61, "61%"), (0.5949, "59%"), (0.0004, "1%")]
)
def test_nothing_is_certain_and_nothing_listed_is_impossible(confidence: float, shown: str) -> None:
    assert percent(confidence) == shown


def test_an_opening_bracket_does_not_end_a_line() -> None:
    lines = wrap("由 nn.DataParallel 运行（torch/nn/parallel/data_parallel.py:213）。", 30)
    assert lines == ["由 nn.DataParallel 运行", "（torch/nn/parallel/data_parallel.py:213）。"]


def test_the_full_answer_begins_with_the_line_that_failed() -> None:
    failed = Frame("net.py", 9, "forward", "return self.fc(x) + self.pe")
    page = full.render(ANSWERS["diagnosed"]._replace(site=failed)).splitlines()
    assert page[:2] == ["RuntimeError in net.py:9, forward", "    return self.fc(x) + self.pe"]
