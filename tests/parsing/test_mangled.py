"""Frames as people mangle them: cut at the left, retold, or no more than the line of source."""

from __future__ import annotations

import pytest
from parsing.knowledge import parse

CODE = "scores = scores + self.causal[:n, :n]"
MESSAGE = (
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
    "cuda:0 and cpu!"
)


@pytest.mark.parametrize("indent", ["", "  ", "    "])
@pytest.mark.parametrize(
    ("printed", "file", "function"),
    [
        ('Dir/net.py", line 93, in f', "Dir/net.py", "f"),
        ('/home/u/My Dir/net.py", line 93, in f', "/home/u/My Dir/net.py", "f"),
        ('le "Dir/net.py", line 93, in f', "Dir/net.py", "f"),
        ('"Dir/net.py", line 93', "Dir/net.py", None),
        ("File Dir/net.py, line 93, in f", "Dir/net.py", "f"),
        ("net.py line 93", "net.py", None),
        ("net.py, line 93:", "net.py", None),
        ("net.py line 93 in f(self, x)", "net.py", "f"),
        ("`net.py` line 93", "net.py", None),
    ],
)
def test_a_frame_that_lost_a_part_keeps_its_place(
    printed: str, file: str, function: str | None, indent: str
) -> None:
    [frame] = parse(f"{indent}{printed}\n    {CODE}\n{MESSAGE}\n").frames
    assert (frame.file, frame.line, frame.function, frame.code) == (file, 93, function, CODE)


@pytest.mark.parametrize("between", ["", "\n", "    ~~~~~~~^~~~~~~~~\n"])
@pytest.mark.parametrize("indent", ["", "    "])
@pytest.mark.parametrize("code", [CODE, "return F.linear(x, w)", "total += loss"])
@pytest.mark.parametrize("message", [MESSAGE, MESSAGE.partition(": ")[2]])
def test_the_line_above_the_message_is_what_failed(
    code: str, indent: str, between: str, message: str
) -> None:
    [frame] = parse(f"before\n{indent}{code}\n{between}{message}\n").frames
    assert (frame.file, frame.line, frame.code, frame.at) == ("", None, code, 2)


@pytest.mark.parametrize(
    "above",
    [
        "the failure is at net.py line 93",
        "see net.py, line 93 for it",
        "line 93",
        "cross-entropy",
        "step (train)",
        "lr = 0.001",
        "Namespace(lr=0.001)",
        "torch.Size([3, 4])",
        "model = 'bert'",
        "loss: 3",
        "Epoch 3: 100%|####| 10/10 [00:01<00:00]",
        "config.json",
        "[INFO] device = cuda",
    ],
)
def test_what_people_and_logs_say_is_no_frame(above: str) -> None:
    assert parse(f"{above}\n{MESSAGE}\n").frames == ()
