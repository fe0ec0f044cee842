"""What the files of recorded programs say of their failures: the suspect, and the line to edit."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose._toml import loads
from diagnose.casebase.store import Casebase
from diagnose.facts import read
from diagnose.parsing import parse
from diagnose.scene import Scene
from diagnose.sources import Folder, Sources

TRACES = Path(__file__).parents[1] / "traces"
RECORDINGS = {one["name"]: one for one in loads((TRACES / "recordings.toml").read_text())["trace"]}

#: Recording -> the fact that the program's source shows, and the line to edit. What is not here the
#: analysis does not tell, and leaves to the traceback.
TOLD = {
    "flower-cnn-plain": ("source-input-not-moved", "train.py:18"),
    "review-sentiment-transformers": ("source-input-not-moved", "score_reviews.py:33"),
    "distill-asr-teacher": ("source-module-not-moved", "distill.py:40"),
    "ticket-router-new-head": ("source-submodule-added-after-move", "finetune_router.py:41"),
    "crowd-unet-decoder": ("source-unregistered-submodule", "unet.py:20"),
    "crowd-unet-pytest": ("source-unregistered-submodule", "unet.py:20"),
    "tablature-positions": ("source-unregistered-tensor", "network.py:23"),
    "sensor-vae-noise": ("source-created-without-device", "vae.py:16"),
    "plate-reader-gpu-1": ("source-hardcoded-device", "postprocess.py:6"),
    "speaker-memory-replicas": ("source-dataparallel-replica-state", "speaker_net.py:23"),
    "galaxy-resnet-logged": ("source-dataparallel-home-device", "morphology.py:26"),
    "story-server-stages": ("source-input-on-wrong-shard", "serve_stories.py:10"),
    "accent-labels-cuda": ("source-hardcoded-device", "run.py:25"),
    "parcel-ddp-device-ids": ("source-rank-device", "launch.py:30"),
    "ecg-resume-adam": ("source-optimizer-state", "resume_training.py:33"),
    "frost-class-weights": ("source-loss-or-metric-state", "train_frost.py:25"),
    "turbine-diffusion-seed": ("source-generator-device", "sample_blades.py:26"),
    "library-search-rerank": ("source-index-device", "search_books.py:18"),
    "atlas-lazy-vit": ("source-meta-tensor", "embed_maps.py:30"),
    "sleep-stages-numpy": ("source-host-copy-needed", "evaluate.py:12"),
    "poster-studio-lowvram": ("source-low-memory-mode", "memory.py:14"),
    "choir-attention-rich": ("source-created-without-device", "choir.py:17"),
    "satellite-sr-rich": ("source-loss-or-metric-state", "train_sr.py:15"),
    "lang-adapters-quechua": ("source-submodule-added-after-move", "add_language.py:35"),
    "buoy-detector-pytest": ("source-unregistered-tensor", "boxes.py:11"),
    "contract-ranker-never-moved": ("source-dataparallel-home-device", "rank_contracts.py:29"),
    "memo-writer-dataparallel": ("source-device-map-under-training", "train_memos.py:31"),
    "two-gpu-unet-skip": ("source-cross-shard-op", "split_unet.py:20"),
    "glacier-adagrad": ("source-optimizer-state", "fit_glacier.py:33"),
    "tide-loader-ipython": ("source-generator-device", "tides.py:17"),
    "survey-filter-pytest": ("source-index-device", "survey.py:10"),
    "shift-metrics-meter": ("source-loss-or-metric-state", "metrics.py:12"),
    "keyword-spotter-history": ("source-dataparallel-replica-state", "streaming.py:15"),
    "fossil-lazy-norm": ("source-meta-tensor", "classify.py:27"),
    "wind-report-rich": ("source-host-copy-needed", "report.py:13"),
}
#: What the analysis says otherwise than recordings.toml: both are defensible.
OTHERWISE = {
    "satellite-sr-rich": "source-loss-or-metric-state",
}


def scene(name: str, casebase: Casebase) -> Scene:
    given = parse((TRACES / "causes" / f"{name}.txt").read_bytes(), knowledge=casebase.knowledge)
    folder = TRACES / "programs" / RECORDINGS[name]["program"]
    return Scene(given, casebase.knowledge, Sources((Folder(str(folder)),), read=None))


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_source_tells_the_cause_and_the_line(name: str, casebase: Casebase) -> None:
    told = [
        (f"source-{one.cause}", f"{Path(one.line.file).name}:{one.line.line}")
        for one in scene(name, casebase).suspects[:1]
    ]
    assert told == ([TOLD[name]] if name in TOLD else [])


def test_the_source_says_no_other_cause_than_the_recording() -> None:
    other = {
        name: fact
        for name, (fact, _) in TOLD.items()
        if fact != f"source-{RECORDINGS[name]['cause']}"
    }
    assert other == OTHERWISE


PROGRAMS = {
    "source-checkpoint-location": (
        """\
import torch
from torch import nn

def restore(path, device):
    saved = torch.load(path)  # here
    net = nn.Linear(2, 2).to(device)
    return net, saved["mean"]

net, mean = restore("m.pt", torch.device("cuda:1"))
x = torch.rand(3, 2).to("cuda:1")
print(net(x) - mean)  # fails
""",
        ("cuda:1", "cuda:0"),
    ),
    "source-hardcoded-device": (  # run with --device cuda:1
        """\
import argparse
import torch
from torch import nn

options = argparse.ArgumentParser()
options.add_argument("--device", default="cuda")
device = options.parse_args().device
net = nn.Linear(2, 2).to(device)
shift = torch.rand(2).cuda()  # here
print(net(torch.rand(3, 2).to(device)) + shift)  # fails
""",
        ("cuda:1", "cuda:0"),
    ),
    "source-zero-offload": (
        """\
import torch
from torch import nn

class CpuOffload:
    def __init__(self):
        self.mean = torch.zeros(2)

    def add(self, grad):
        self.mean = self.mean.cpu() + grad  # fails

net, kept = nn.Linear(2, 2).to("cuda"), CpuOffload()
total = net(torch.rand(3, 2).to("cuda")).sum(0)
kept.add(total)  # here
""",
        ("cpu", "cuda:0"),
    ),
    "source-rank-device": (
        """\
import os
import torch
from torch import nn

local_rank = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", local_rank)  # here
net = nn.Linear(2, 2).to(device)
x = torch.rand(3, 2).cuda()
print(net(x))  # fails
""",
        ("cuda:1", "cuda:0"),
    ),
}


@pytest.mark.parametrize("fact", PROGRAMS)
def test_small_programs(fact: str, casebase: Casebase, tmp_path: Path) -> None:
    text, devices = PROGRAMS[fact]
    lines = text.split("\n")
    here, fails = (
        next(number for number, line in enumerate(lines, 1) if line.endswith(mark))
        for mark in (("# here", "# fails") if "# fails" in text else ("# here and fails",) * 2)
    )
    (tmp_path / "run.py").write_text(text)
    trace = (
        "Traceback (most recent call last):\n"
        f'  File "/home/u/run.py", line {fails}, in <module>\n    {lines[fails - 1]}\n'
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
        f"{devices[0]} and {devices[1]}!\n"
    )
    given = parse(trace.encode(), knowledge=casebase.knowledge)
    looked = Scene(given, casebase.knowledge, Sources((Folder(str(tmp_path)),), read=None))
    [found] = [value for key, value in read(looked).items() if key.startswith("source-")]
    assert (found.id, found.values["place"].rpartition(":")[2]) == (fact, str(here))
