"""The hook beside what programs train and report with: transformers' Trainer, launchers over gloo, Sentry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import forked
import pytest
from hooks.children import MESSAGE, SIGN, python

import diagnose

TRAINER = """\
import torch, diagnose
from torch import nn
from transformers import Trainer, TrainingArguments

diagnose.install(seconds=60)

class Scored(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.scale = torch.ones(2)

    def forward(self, x, labels):
        logits = self.fc(x) * self.scale
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}

rows = [{"x": torch.ones(4), "labels": torch.tensor(1)} for _ in range(4)]
arguments = TrainingArguments("out", report_to=[], disable_tqdm=True, save_strategy="no")
Trainer(Scored(), arguments, train_dataset=rows).train()
"""


def test_a_trainer_that_dies_is_explained(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    (tmp_path / "train.py").write_text(TRAINER)
    words = ("-m", "diagnose.simulation", "--gpus", "1")
    end = python(*words, tmp_path / "train.py", by=forked.python())
    assert end.status == 1
    assert SIGN in end.err, end.err
    assert "self.scale: cpu" in end.err
    assert 'self.register_buffer("scale", torch.ones(2)' in end.err


LAUNCHED = """\
import os, torch.distributed as dist
dist.init_process_group("gloo")
dist.barrier()
if dist.get_rank() == 1:
    raise RuntimeError({!r})
"""
#: As `accelerate launch` is called where there are GPUs; it starts torchrun's agent.
LAUNCHER = ["--multi_gpu", "--num_processes=2", "--num_machines=1", "--mixed_precision=no"]
LAUNCHER += ["--dynamo_backend=no", "--main_process_port=0"]


def test_the_rank_that_fails_under_accelerate_answers(tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    script = tmp_path / "train.py"
    script.write_text(LAUNCHED.format(MESSAGE))
    words = ("-m", "accelerate.commands.launch", *LAUNCHER, "-m", "diagnose.hooks")
    end = python(*words, script, by=forked.python())
    assert end.status == 1
    assert end.err.count(SIGN) == 1, end.err


@pytest.fixture
def sent() -> Any:
    """What Sentry would have sent."""
    sdk = pytest.importorskip("sentry_sdk")
    events: list[dict[str, Any]] = []

    class Local(sdk.transport.Transport):
        def capture_envelope(self, envelope: Any) -> None:
            events.extend(filter(None, [envelope.get_event()]))

    sdk.init(
        "http://key@localhost/1",
        transport=Local,
        before_send=diagnose.sentry_event,
        default_integrations=False,
    )
    yield events
    sdk.init()


def raised(error: Exception) -> None:
    import sentry_sdk

    try:
        raise error
    except Exception as caught:
        sentry_sdk.capture_exception(caught)


def test_an_event_has_the_diagnosis_and_equal_failures_one_fingerprint(sent: Any) -> None:
    for message in (MESSAGE, MESSAGE.replace("cuda:0", "cuda:1")):
        raised(RuntimeError(message))
    raised(ValueError("no token is here"))
    first, second, other = sent
    context = first["contexts"]["diagnose"]
    assert context["cause"] in context["answer"]
    assert "test_libraries.py:" in context["place"]
    assert 0 < context["confidence"] <= 1
    assert first["fingerprint"][0] == "diagnose"
    assert first["fingerprint"] == second["fingerprint"]
    assert "fingerprint" not in other and "diagnose" not in other["contexts"]


def test_secrets_do_not_reach_an_event(sent: Any) -> None:
    token = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz01234567"
    raised(RuntimeError(f"{MESSAGE} token={token}"))
    assert token not in str(sent[0]["contexts"]["diagnose"])


@pytest.mark.faults
def test_a_fault_of_ours_costs_no_event(sent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diagnose.hooks.sentry._context", lambda _: 1 / 0)
    raised(RuntimeError(MESSAGE))
    assert "diagnose" not in sent[0]["contexts"]


def test_nothing_is_imported_before_it_is_used() -> None:
    end = python(
        "-c",
        "import sys, diagnose; diagnose.sentry_event({}, {})\n"
        "assert not {'torch', 'sentry_sdk', 'diagnose.model'} & set(sys.modules)",
    )
    assert end.status == 0, end.err
