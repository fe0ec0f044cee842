"""A machine without a GPU: a line that asks for one is at fault where its program goes by a device."""

from __future__ import annotations

import pytest

from diagnose.model import Diagnosis
from diagnose.pipeline import diagnose
from diagnose.sources import Given, Sources

NOT_COMPILED = "AssertionError: Torch not compiled with CUDA enabled"
NO_DRIVER = "RuntimeError: Found no NVIDIA driver on your system. Please check that you have one."
MODULE = """from torch import nn

class Vocoder(nn.Module):
    def forward(self, mel):
        return self.body({line})
"""
CALLED = """def score(model, texts, tokenizer):
    batch = tokenizer(texts)
    batch = {line}
    return model(**batch)
"""
CHOSEN = """import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = Net().to(device)
grid = {line}
"""
SETTING = """def main(config, net):
    if config["device"] != "cpu":
        net = wrap(net)
    {line}
"""
OPTION = """def train(args, net):
    net.to(args.device)
    table = {line}
"""


def _answer(text: str, message: str, number: int) -> Diagnosis:
    line = text.split("\n")[number - 1].strip()
    trace = f'Traceback (most recent call last):\n  File "/home/u/job.py", line {number}, in run\n'
    trace += (
        f'    {line}\n  File "/v/site-packages/torch/cuda/__init__.py", line 239, in _lazy_init\n'
    )
    trace += f"    torch._C._cuda_init()\n{message}\n"
    return diagnose(trace, sources=Sources([Given({"job.py": text})], read=None))


@pytest.mark.parametrize("message", [NOT_COMPILED, NO_DRIVER])
@pytest.mark.parametrize(
    ("text", "number", "line", "fixed"),
    [
        (MODULE, 5, "mel.cuda()", "mel.to(next(self.parameters()).device)"),
        (CALLED, 3, 'batch.to("cuda:0")', "batch.to(next(model.parameters()).device)"),
        (CHOSEN, 5, 'torch.ones(3, device="cuda")', "torch.ones(3, device=device)"),
        (SETTING, 4, "net = net.cuda()", "net = net.to(config['device'])"),
        (OPTION, 3, "Table().cuda()", "Table().to(args.device)"),
    ],
)
def test_a_written_gpu_gives_way_to_the_device_that_the_program_goes_by(
    text: str, number: int, line: str, fixed: str, message: str
) -> None:
    text = text.replace("{line}", line)
    answer = _answer(text, message, number)
    assert answer.report.error.family == "device-placement"
    assert answer.causes[0].id == "hardcoded-device"
    assert answer.culprit.line == number
    edit = next(fix.edit for fix in answer.causes[0].fixes if fix.edit)
    assert edit.after.strip() == edit.before.strip().replace(line, fixed)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("net = Net().cuda()\nx = torch.ones(3).cuda()\n", 1),
        ("device = torch.device('cuda')\nnet = Net().to(device)\nx = torch.ones(3).cuda()\n", 3),
        ("device = 'cuda:0'\nnet = Net().cuda()\nnet.to(device)\n", 2),
        ("device = pick()\nnet = Net().to(device)\nprint(net)\n", 2),
        ("def main(model, x):\n    model = model.cuda()\n    return model(x)\n", 2),
    ],
)
def test_a_program_that_needs_a_gpu_lacks_one(text: str, number: int) -> None:
    answer = _answer(text, NOT_COMPILED, number)
    assert answer.report.error.family == "gpu-setup"
    assert answer.verdict == "unknown" and not answer.causes and answer.advice
