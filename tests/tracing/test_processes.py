"""Recorded programs in processes of their own: the same output, status and random numbers, and the answer."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import forked
import pytest
from forked import command

CASES = Path(__file__).parents[2] / "kb" / "cases"

PRINTS = """\
import random, threading, torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(net.parameters())
data = TensorDataset(torch.randn(16, 4))
for workers in (0, 2):
    for (x,) in DataLoader(data, batch_size=4, shuffle=True, num_workers=workers):
        loss = net(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        print(loss.item())
thread = threading.Thread(target=lambda: print(net(torch.ones(1, 4)).sum().item()))
thread.start()
thread.join()
raise SystemExit(7)
"""
FAILS = """\
import torch
from torch import nn

def build():
    with torch.device("meta"):
        return nn.Linear(4, 4)  # born

net = build()
print("before")
net(torch.randn(2, 4))
"""
RANKS = """\
import os, torch, torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
rank = dist.get_rank()
net = nn.parallel.DistributedDataParallel(nn.Linear(4, 4))
net(torch.ones(2, 4)).sum().backward()
total = torch.ones(1) * rank
dist.all_reduce(total)
open(f"rank-{rank}", "w").write(str(total.item()))
late = torch.zeros(4, 4, device="meta")  # born
nn.functional.linear(net(torch.ones(2, 4)), late, late[0])
"""


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder with a short name: an answer cuts rows that are too long for the terminal."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A Python in a folder."""
    return subprocess.run(
        [forked.python(), *arguments], cwd=folder, capture_output=True, text=True, timeout=180
    )


def test_a_good_run_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PRINTS)
    plain = python(tmp_path, "train.py")
    traced = python(tmp_path, "-m", "diagnose", "run", "--trace", "train.py")
    assert plain.returncode == 7
    assert len(plain.stdout.splitlines()) == 9
    assert (traced.returncode, traced.stdout, traced.stderr) == (7, plain.stdout, plain.stderr)


def test_a_failure_is_printed_the_same_and_explained(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FAILS)
    plain = python(tmp_path, "train.py")
    traced = python(tmp_path, "-m", "diagnose", "run", "--trace", "train.py")
    assert (traced.returncode, traced.stdout) == (plain.returncode, plain.stdout)
    assert traced.stderr.startswith(plain.stderr)
    answer = traced.stderr.removeprefix(plain.stderr)
    assert "net.weight  meta" in " ".join(answer.split()).replace(
        "net.weight meta", "net.weight  meta"
    )
    assert "train.py:6  return" in answer


def test_without_the_hook_nothing_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "from diagnose import tracing\nimport torch\nprint(tracing.active())\n"
    )
    assert python(tmp_path, "-m", "diagnose", "run", "train.py").stdout == "None\n"
    assert "Recorder" in python(tmp_path, "-m", "diagnose", "run", "--trace", "train.py").stdout


def test_each_rank_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(RANKS)
    launcher = ("-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone", "train.py")
    done = python(tmp_path, "-m", "diagnose", "run", "--trace", *launcher)
    assert done.returncode != 0
    assert [(tmp_path / f"rank-{rank}").read_text() for rank in (0, 1)] == ["1.0", "1.0"]
    assert "train.py:11  late = torch" in done.stderr
    assert "meta-tensor" in done.stderr


def test_a_simulated_run_reports(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import torch\n"
        "table = torch.arange(4)\n"
        'x = torch.ones(4, device="cuda")\n'
        "print(x * table)\n"
    )
    done = command(tmp_path, "run", "--simulate", "--output", "answer.json", "train.py")
    assert done.returncode == 1
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert answer["culprit"]["line"] == 2
    assert answer["culprit"]["basis"] == "live"
    [stray] = answer["strays"]
    assert (stray["name"], stray["device"], stray["expected"]) == ("table", "cpu", "cuda:0")
    assert stray["born"]["code"] == "table = torch.arange(4)"
    assert "train.py:2  table = torch.arange(4)" in done.stderr


def test_a_good_simulated_run_reports_no_error(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        'import torch\nprint(torch.ones(2, device="cuda").sum().item())\n'
    )
    done = command(tmp_path, "run", "--simulate", "--output", "answer.json", "train.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "2.0\n", "")
    assert json.loads((tmp_path / "answer.json").read_text())["verdict"] == "no-error"


def test_without_a_trace_the_answer_is_that_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        'import torch\ntable = torch.arange(4)\nx = torch.ones(4, device="cuda")\nprint(x * table)\n'
    )
    words = ("run", "--simulate", "--no-trace", "--output", "answer.json", "train.py")
    assert command(tmp_path, *words).returncode == 1
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert (answer["operands"], answer["strays"]) == ([], [])
    assert answer["culprit"]["line"] == 2
    assert answer["culprit"]["basis"] != "live"


LIBRARIES = {
    "accelerate": """\
import torch
from accelerate import Accelerator
from torch import nn

def main():
    accelerator = Accelerator()
    net = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = accelerator.prepare(net, optimizer)
    weights = torch.ones(2)  # born
    for _ in range(2):
        x = torch.randn(3, 4, device=accelerator.device)
        loss = (net(x) * weights).sum()
        accelerator.backward(loss)

main()
""",
    "transformers": """\
import torch
from transformers import BertConfig, BertModel

def main():
    config = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
    model = BertModel(config).to("cuda")
    ids = torch.randint(0, 50, (2, 5))  # born
    model(input_ids=ids)

main()
""",
    "lightning": """\
import lightning, torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.weights = torch.ones(2)  # born

    def training_step(self, batch, _):
        x, y = batch
        return nn.functional.cross_entropy(self.fc(x), y, weight=self.weights)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

data = TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,)))
trainer = lightning.Trainer(
    accelerator="gpu", devices=1, max_epochs=1, logger=False, enable_checkpointing=False,
    enable_progress_bar=False, enable_model_summary=False,
)
trainer.fit(Net(), DataLoader(data, batch_size=4))
""",
    "peft": """\
import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2Model

def main():
    model = GPT2Model(GPT2Config(vocab_size=50, n_positions=16, n_embd=16, n_layer=1, n_head=2))
    model = get_peft_model(model, LoraConfig(r=2, target_modules=["c_attn"], fan_in_fan_out=True)).to("cuda")
    model.base_model.model.extra = torch.nn.Linear(16, 2)  # born
    hidden = model(torch.randint(0, 50, (1, 4), device="cuda")).last_hidden_state
    model.base_model.model.extra(hidden)

main()
""",
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_programs_of_libraries(library: str, tmp_path: Path) -> None:
    pytest.importorskip(library)
    text = LIBRARIES[library]
    (tmp_path / "train.py").write_text(text)
    done = command(tmp_path, "run", "--simulate", "--output", "answer.json", "train.py")
    answer = json.loads((tmp_path / "answer.json").read_text())
    born = next(n for n, line in enumerate(text.splitlines(), 1) if line.endswith("# born"))
    assert [one["born"]["line"] for one in answer["strays"][:1]] == [born], done.stderr
    assert answer["culprit"]["line"] == born


TRAINS = {
    "lightning": """\
import lightning, torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc, self.drop = nn.Linear(4, 2), nn.Dropout()

    def training_step(self, batch, _):
        loss = nn.functional.cross_entropy(self.drop(self.fc(batch[0])), batch[1])
        print(loss.item())
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.1)

lightning.seed_everything(0)
data = TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,)))
trainer = lightning.Trainer(
    accelerator="cpu", max_epochs=2, logger=False, enable_checkpointing=False,
    enable_progress_bar=False, enable_model_summary=False,
)
trainer.fit(Net(), DataLoader(data, batch_size=4, shuffle=True))
print(torch.rand(1).item())
""",
    "transformers": """\
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

torch.manual_seed(0)
config = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
model = BertForSequenceClassification(config)
rows = [{"input_ids": torch.randint(0, 50, (6,)), "labels": torch.tensor(n % 2)} for n in range(8)]
arguments = TrainingArguments(
    "out", max_steps=3, per_device_train_batch_size=4, report_to=[], save_strategy="no",
    disable_tqdm=True, use_cpu=True,
)
Trainer(model=model, args=arguments, train_dataset=rows).train()
print([p.sum().item() for p in model.parameters()], torch.rand(1).item())
""",
}


@pytest.mark.parametrize("library", TRAINS)
def test_trainers_run_the_same(library: str, tmp_path: Path) -> None:
    pytest.importorskip(library)
    (tmp_path / "train.py").write_text(TRAINS[library])
    plain = python(tmp_path, "train.py")
    traced = python(tmp_path, "-m", "diagnose", "run", "--trace", "train.py")
    assert plain.returncode == traced.returncode == 0, plain.stderr + traced.stderr
    # How long it took is no part of what the program computes.
    numbers = [
        re.sub(r"'?\w*(runtime|per_second)'?: '?[\d.]+'?", "", one.stdout)
        for one in (plain, traced)
    ]
    assert numbers[0] == numbers[1]


def test_cells_of_ipython_are_recorded(tmp_path: Path) -> None:
    pytest.importorskip("IPython")
    cell = (
        "import diagnose, torch\n"
        "recording = diagnose.trace(); _ = recording.__enter__()\n"
        "with torch.device('meta'): late = torch.zeros(4, 4)\n"
        "error = None\n"
        "try: torch.nn.functional.linear(torch.ones(2, 4), late, late[0])\n"
        "except RuntimeError as failed: error = diagnose.explain(failed)\n"
        "[stray] = [one for one in error.report.operands if one.expected]\n"
        "print(stray.name, stray.born.line)\n"
    )
    done = python(tmp_path, "-m", "IPython", "--quick", "--colors=nocolor", "-c", cell)
    assert done.stdout.split()[-2:] == ["late", "3"], done.stdout + done.stderr


#: What met the wrong device, and the line that made it.
INCIDENTS = {
    "easyedit-memit-delta": ("delta", "delta = torch.zeros("),
    "llms-from-scratch-out-head": ("model.out_head.weight", "model.out_head = nn.Linear("),
}


@pytest.mark.parametrize("incident", INCIDENTS)
def test_documented_incidents_are_told_with_their_births(incident: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    name, code = INCIDENTS[incident]
    program = CASES / incident / "reproduce.py"
    report = tmp_path / "answer.json"
    command(tmp_path, "run", "--simulate", "--output", str(report), str(program), "failing")
    born = {one["name"]: one["born"] for one in json.loads(report.read_text())["operands"]}
    assert born[name]["code"].startswith(code)
