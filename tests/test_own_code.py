"""What an answer says and offers is about the user's own program, or is told to be an example."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from diagnose import facts as fact_stage
from diagnose.casebase.store import Casebase
from diagnose.model import Diagnosis, Fix, Frame, Knowledge, Library, Line, Mismatch, Report
from diagnose.parsing import parse
from diagnose.pipeline import diagnose
from diagnose.placeholders import always, fill, in_general, sentence, values
from diagnose.rendering import full, markdown, text
from diagnose.scene import Scene

TESTS = Path(__file__).parent
RECORDED = sorted(
    [
        *(TESTS / "traces").glob("*.txt"),
        *(TESTS / "traces/causes").glob("*.txt"),
        *(TESTS / "parsing/forms").glob("*.txt"),
    ]
)
TORCH = (Library("torch", distribution="torch"),)


@pytest.fixture(scope="module")
def answers(casebase: Casebase) -> list[Diagnosis]:
    return [diagnose(path.read_bytes(), path.name, casebase=casebase) for path in RECORDED]


def test_no_sentence_has_an_empty_slot(answers: list[Diagnosis], casebase: Casebase) -> None:
    told = 0
    for report in (answer.report for answer in answers):
        for fact in fact_stage.read(Scene(report, casebase.knowledge)).values():
            assert "" not in fact.values.values(), fact
            assert "…" not in {value for value in fact.values.values() if len(value) < 100}
            shown = sentence(casebase.knowledge.facts[fact.id].text, fact.values)
            told += shown is not None
            if shown is not None:
                without = shown
                for value in sorted(fact.values.values(), key=len, reverse=True):
                    without = without.replace(value, "x")
                assert not re.search(r"…|\{|\?|(?<!\w)[(（]\s*[)）]|[:：]\s*$", without), (
                    report.source,
                    shown,
                )
    assert told > 1000


@pytest.mark.parametrize(
    ("template", "known", "shown"),
    [
        ("It uses {name}: {code}", {"name": "x", "code": "x + y"}, "It uses x: x + y"),
        ("It uses {name}: {code}", {"name": "x"}, "It uses x"),
        ("It uses {name}: {code}", {"code": "x + y"}, None),
        ("It fails in a layer ({function}, {place}).", {"function": "f"}, "It fails in a layer."),
        ("Two GPUs met: {devices}.", {}, "Two GPUs met."),
        ("Two GPUs met ({devices}), and no more.", {}, "Two GPUs met, and no more."),
        ("两块 GPU 的张量相遇：{devices}。", {}, "两块 GPU 的张量相遇。"),
        ("在此合并（{function}，{place}）。", {}, "在此合并。"),
        ("An operation of {library} met {devices}.", {"devices": "cuda:0 / cpu"}, None),
        ("Its code: {code}", {"code": "{name}"}, "Its code: {name}"),
    ],
)
def test_a_sentence_does_with_less_or_is_left_out(
    template: str, known: dict[str, str], shown: str | None
) -> None:
    assert sentence(template, known) == shown


def test_facts_that_follow_from_others_know_what_those_know(casebase: Casebase) -> None:
    report = parse(
        "Traceback (most recent call last):\n"
        '  File "/env/lib/python3.11/site-packages/torchaudio/functional/filtering.py", line 3, '
        "in lfilter\n    out = a + b\n"
        "RuntimeError: Expected all tensors to be on the same device, but found at least two "
        "devices, xpu:0 and cpu!\n",
        knowledge=casebase.knowledge,
    )
    fact = fact_stage.read(Scene(report, casebase.knowledge))["library-mixes"]
    told = sentence(casebase.knowledge.facts[fact.id].text, fact.values)
    assert told == "An elementwise operation of torchaudio itself met xpu:0 / cpu."


# --- commands -------------------------------------------------------------------------------------


def fixes(diagnosis: Diagnosis) -> list[Fix]:
    return [fix for cause in diagnosis.causes for fix in cause.fixes]


def test_commands_name_the_script_that_ran(answers: list[Diagnosis]) -> None:
    commands = 0
    for diagnosis in answers:
        known = always(diagnosis.report)["script"]
        offered = [fix.command for fix in fixes(diagnosis)]
        offered += [question.command for question in diagnosis.questions]
        for command in filter(None, offered):
            commands += 1
            assert "{" not in command
            assert "LIBRARY" not in command
            scripts = [
                word for word in shlex.split(command) if word.endswith(".py") and "*" not in word
            ]
            assert scripts in ([], shlex.split(known)), command
    assert commands > 100


def launched(log: str, script: str = "/home/u/train.py") -> str:
    report = Report("-", context=(Line(1, log),), frames=(Frame(script, 1, "<module>"),))
    return always(report)["launch"]


@pytest.mark.parametrize(
    ("log", "command"),
    [
        ("+ torchrun --nproc_per_node=8 /home/u/train.py --lr 1", "torchrun train.py"),
        ("accelerate launch train.py", "accelerate launch --num_processes 1 train.py"),
        ("$ deepspeed --num_gpus=4 train.py", "deepspeed --num_gpus 1 train.py"),
        ("torchrun other.py", "python train.py"),
        ("torchrun $(id) #; train.py", "torchrun train.py"),
        ("nothing of the kind", "python train.py"),
    ],
)
def test_the_launcher_of_the_log_is_kept_and_nothing_else_of_its_line(
    log: str, command: str
) -> None:
    assert launched(log) == command


def test_a_script_that_needs_quotes_has_them() -> None:
    report = Report("-", frames=(Frame("/home/u/训练.py", 1, "<module>"),))
    command = fill("python {script}", always(report)) or ""
    assert "'" in command
    assert shlex.split(command) == ["python", "训练.py"]


def test_a_script_that_reads_like_a_sentence_is_not_named() -> None:
    report = Report("-", frames=(Frame("/home/u/run this now.py", 1, "<module>"),))
    assert fill("python {script}", always(report)) == "python YOUR_SCRIPT.py"


def test_the_gpu_that_was_meant_is_the_one_beside_the_first() -> None:
    def gpu(*devices: str) -> str:
        return always(Report("-", mismatch=Mismatch(devices, None, None, "w")))["gpu"]

    assert gpu("cuda:0", "cuda:3") == gpu("cuda:3", "cpu") == "3"
    assert gpu("cuda:0", "cpu") == gpu("cuda:$(id)") == gpu() == "0"


def distribution(library: str, known: tuple[Library, ...]) -> str | None:
    frame = Frame(f"/env/site-packages/{library}/x.py", 1, "f", library=library)
    return values(Scene(Report("-", frames=(frame,)), Knowledge(libraries=known)), {}).get(
        "distribution"
    )


def test_only_a_library_that_the_case_base_knows_is_offered_for_installing() -> None:
    known = (Library("cv2", distribution="opencv-python"), Library("mmcv"))
    assert distribution("cv2", known) == "opencv-python"
    assert distribution("mmcv", known) is None  # one of several
    assert distribution("evil_package", known) is None


def test_a_cause_in_general_names_no_script(casebase: Casebase) -> None:
    commands = [
        in_general(fix.command)
        for cause in casebase.causes.values()
        for fix in cause.fixes
        if fix.command
    ]
    assert len(commands) > 15
    assert not any("{" in command for command in commands)
    scripts = {word for text in commands for word in text.split() if word.endswith(".py")}
    assert scripts == {"YOUR_SCRIPT.py"}


# --- examples -------------------------------------------------------------------------------------


def with_example(answers: list[Diagnosis]) -> Diagnosis:
    """An answer that offers first an example short enough for every form, whichever causes lead."""
    answer = next(a for a in answers if a.causes and a.causes[0].fixes[0].example)
    first, *others = answer.causes[0].fixes
    cause = answer.causes[0]._replace(
        fixes=(first._replace(code="- model.cpu()\n+ model.cuda()"), *others)
    )
    return answer._replace(causes=(cause, *answer.causes[1:]))


def test_an_example_is_called_one(answers: list[Diagnosis]) -> None:
    for diagnosis in answers:
        for fix in fixes(diagnosis):
            assert fix.example == (fix.code is not None)
    shown = with_example(answers)
    assert "for example\n" in full.render(shown) and "For example:\n" in text.render(shown)
    chinese = shown._replace(lang="zh")
    assert "例如\n" in full.render(chinese) and "例如：\n" in text.render(chinese)
    assert "for example:\n\n```\n" in markdown.render(shown)


def test_an_example_is_not_coloured_like_a_patch(answers: list[Diagnosis]) -> None:
    shown = with_example(answers)
    only = shown.causes[0]._replace(fixes=shown.causes[0].fixes[:1])
    for form in (text, full):
        page = form.render(shown._replace(causes=(only,), questions=()), color=True)
        assert "\x1b[32m+" not in page and "\x1b[31m-" not in page


def test_no_module_is_asked_for_its_device(casebase: Casebase) -> None:
    shown = [fix.after for cause in casebase.causes.values() for fix in cause.fixes]
    assert not [after for after in shown if after and "model.device" in after]
