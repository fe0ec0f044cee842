"""The printed Verify line: about the user's own script, and safe to paste."""

from __future__ import annotations

import shlex

import pytest

from diagnose.casebase.store import Casebase
from diagnose.hooks.live import explain
from diagnose.model import Diagnosis, Frame
from diagnose.pipeline import diagnose
from diagnose.rendering.text import render
from diagnose.verification.invocation import check, invocation, repair

TRACE = """\
Traceback (most recent call last):
  File "/home/user/train.py", line 40, in <module>
    loss = net(batch)
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
"""


def answer(casebase: Casebase, source: str = "-") -> Diagnosis:
    return diagnose(TRACE, source, casebase=casebase)


def test_it_names_the_report_and_the_script(casebase: Casebase) -> None:
    assert invocation(answer(casebase, "train.log")) == ("diagnose run --verify=train.log train.py")


def test_standard_input_is_named_like_the_file_to_keep_it_in(casebase: Casebase) -> None:
    assert invocation(answer(casebase)) == "diagnose run --verify=traceback.txt train.py"


@pytest.mark.parametrize(
    "source", ["my log.txt", "$(id).log", "a;b", "日志.txt", "it's.log", "-x.log", "`id`"]
)
def test_a_strange_name_stays_one_word(casebase: Casebase, source: str) -> None:
    words = shlex.split(invocation(answer(casebase, source)))
    assert words[:2] == ["diagnose", "run"]
    assert words[2] in (f"--verify={source}", f"--verify=./{source}")
    assert words[3:] == ["train.py"]


def test_a_name_that_does_not_print_is_not_printed(casebase: Casebase) -> None:
    line = invocation(answer(casebase, "a\n\x1b[2Jrm.log"))
    assert line == "diagnose run --verify=traceback.txt train.py"


def test_a_script_that_is_not_known_is_not_invented(casebase: Casebase) -> None:
    found = answer(casebase)
    frames = (Frame("$(id).py", 1, "<module>"),)
    line = invocation(found._replace(report=found.report._replace(frames=frames)))
    assert line.endswith(" YOUR_SCRIPT.py")


def test_a_live_exception_has_no_input_to_name() -> None:
    message = TRACE.splitlines()[-1].partition(": ")[2]
    try:
        raise RuntimeError(message)
    except RuntimeError as error:
        found = explain(error)
    page = render(found)
    assert (
        "diagnose run" not in page and "verify.py" not in page
    )  # there is neither a script nor a file
    assert "of the input" not in page and "--from" not in page
    assert any(evidence.line for cause in found.causes for evidence in cause.evidence)


@pytest.mark.parametrize(
    ("devices", "gpus"), [("cuda:0 and cpu", 1), ("cuda:3 and cuda:0", 4), ("cuda:999 and cpu", 1)]
)
def test_a_named_script_is_repaired_with_as_many_gpus_as_the_message_counts(
    devices: str, gpus: int, casebase: Casebase
) -> None:
    found = diagnose(TRACE.replace("cuda:0 and cpu", devices), casebase=casebase)
    found = found._replace(causes=(found.causes[0]._replace(gpus=1),))
    assert repair(found) == f"diagnose fix --gpus {gpus} train.py"
    both = found._replace(causes=(found.causes[0]._replace(gpus=2),))
    assert repair(both) == f"diagnose fix --gpus {max(gpus, 2)} train.py"


def test_a_script_that_is_not_known_gets_a_program_to_write(casebase: Casebase) -> None:
    found = answer(casebase)
    frames = (Frame("train.py", 1, "main"),)
    found = found._replace(report=found.report._replace(frames=frames))
    assert repair(found) == ""
    assert check(found) == "diagnose --verification verify.py traceback.txt"
