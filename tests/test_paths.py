"""One place has one spelling, in all of an answer."""

from __future__ import annotations

import pytest

from diagnose.casebase.store import Casebase
from diagnose.model import Frame
from diagnose.paths import of_frame, short
from diagnose.pipeline import diagnose
from diagnose.rendering.text import render


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("train.py", "train.py"),
        ("/root/autodl-tmp/exp/train.py", "/root/autodl-tmp/exp/train.py"),
        ("C:\\jobs\\train.py", "C:/jobs/train.py"),
        ("/opt/conda/lib/python3.11/site-packages/peft/tuners/lora.py", "peft/tuners/lora.py"),
        ("C:\\env\\Lib\\site-packages\\peft\\lora.py", "peft/lora.py"),
        ("/usr/lib/python3/dist-packages/torch/nn/functional.py", "torch/nn/functional.py"),
        ("/x/lib/python3.6/site-packages/mmcv-1.0-py3.6.egg/mmcv/runner/a.py", "mmcv/runner/a.py"),
        ("/x/site-packages/vendored/lib/site-packages/peft/lora.py", "peft/lora.py"),
        ("/x/lib__site-packages__x/train.py", "/x/lib__site-packages__x/train.py"),
        ("<ipython-input-8-bb6f6af39933>", "Cell In[8]"),
        ("Input In [8]", "Cell In[8]"),
        ("Cell In[8]", "Cell In[8]"),
        ("<string>", "<string>"),
    ],
)
def test_a_file_is_told_as_people_know_it(printed: str, shown: str) -> None:
    assert short(printed) == shown


def test_of_a_long_path_the_end_stands_and_is_a_path() -> None:
    path = "/" + "/".join(["folder"] * 20) + "/models/llama.py"
    assert len(short(path)) <= 60
    assert path.endswith("/" + short(path))
    assert short("/a/b/" + "x" * 90 + ".py") == "b/" + "x" * 90 + ".py"


def test_a_cell_has_its_line_as_ipython_tells_it() -> None:
    assert of_frame(Frame("<ipython-input-8-bb6f6af39933>", 3)) == "Cell In[8], line 3"
    assert of_frame(Frame("train.py", 3)) == "train.py:3"
    assert of_frame(Frame("train.py")) == "train.py"


def test_one_answer_has_one_spelling(casebase: Casebase) -> None:
    path = "/root/autodl-tmp/exp/rings.py"
    answer = diagnose(
        "Traceback (most recent call last):\n"
        f'  File "{path}", line 21, in forward\n'
        "    out = x * self.scale + self.shift\n"
        "RuntimeError: Expected all tensors to be on the same device, but found at least two "
        "devices, cuda:0 and cpu!\n",
        casebase=casebase,
    )
    told = [evidence.text for cause in answer.causes for evidence in cause.evidence]
    told += [question.place or question.text for question in answer.questions]
    told.append(render(answer).splitlines()[0])
    spelled = [text for text in told if "rings.py" in text]
    assert len(spelled) > 1
    assert all(f"{path}:21" in text for text in spelled)
