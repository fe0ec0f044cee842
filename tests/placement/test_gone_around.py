"""What a library offloads is found on the cpu where its own forward is gone around."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.casebase.store import Casebase
from diagnose.pipeline import diagnose
from diagnose.sources import Folder, Sources

#: Name -> a program and the line to edit, the failing line last.
PROGRAMS = {
    "another_method": """\
import torch
from accelerate import cpu_offload_with_hook
class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(4, 8)
    def decode(self, z):
        return self.up(z)  # fails
    def forward(self, z):
        return self.decode(z).sigmoid()
decoder, hook = cpu_offload_with_hook(Decoder(), torch.device("cuda"))
z = torch.rand(2, 4, device="cuda")
print(decoder(z))
print(decoder.decode(z))  # here
""",
    "a_weight": """\
import torch
from accelerate import cpu_offload
from transformers import GPT2LMHeadModel
model = GPT2LMHeadModel.from_pretrained("gpt2")
cpu_offload(model, torch.device("cuda"))  # here
hidden = torch.rand(1, 3, 768, device="cuda")
table = model.lm_head.weight
print(hidden @ table.t())  # fails
""",
    "a_pipeline": """\
import torch
from diffusers import StableDiffusionPipeline
pipe = StableDiffusionPipeline.from_pretrained("sd")
pipe.enable_sequential_cpu_offload()  # here
ids = torch.ones(1, 4, dtype=torch.long, device="cuda")
scale = torch.rand(4, 768, device="cuda")
print(pipe.text_encoder.get_input_embeddings().weight[:4] * scale)  # fails
""",
    "a_helper": """\
import torch
def offload(*models):
    for model in models:
        model.to("cpu")
first, second = torch.nn.Linear(4, 4).cuda(), torch.nn.Linear(4, 4).cuda()
x = first(torch.rand(2, 4).cuda())
offload(first)  # here
print(first(second(x)))  # fails
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_line_that_goes_around_a_forward(name: str, casebase: Casebase, tmp_path: Path) -> None:
    lines = PROGRAMS[name].split("\n")
    (tmp_path / "run.py").write_text(PROGRAMS[name])
    calls = [n for n, line in enumerate(lines, 1) if "print(decoder.decode" in line]
    failing = next(n for n, line in enumerate(lines, 1) if line.endswith("# fails"))
    frames = "".join(
        f'  File "/home/u/run.py", line {n}, in f\n    {lines[n - 1].strip()}\n'
        for n in dict.fromkeys([*calls, failing])
    )
    trace = (
        f"Traceback (most recent call last):\n{frames}RuntimeError: Expected all tensors to be on the "
        "same device, but found at least two devices, cuda:0 and cpu!\n"
    )
    sources = Sources((Folder(str(tmp_path)),), read=None)
    answer = diagnose(trace, casebase=casebase, sources=sources)
    assert answer.causes[0].id == "offloaded-to-cpu"
    assert "source-offloaded-to-cpu" in casebase.knowledge.facts
    assert answer.culprit is not None and answer.culprit.line is not None
    assert lines[answer.culprit.line - 1].endswith("# here")
