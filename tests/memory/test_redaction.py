"""No secret survives, and what the answer needs does."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from memory.secrets import TEMPLATES, planted, private_key

from diagnose.casebase.store import Casebase
from diagnose.memory.redaction import Redacted, entropy, redacted, redactor
from diagnose.model import Diagnosis

Redact = Callable[[str], Redacted]
ROOT = Path(__file__).parents[2]
TRACES = sorted((ROOT / "tests" / "traces").rglob("*.txt"))
RECORDED = sorted((ROOT / "kb" / "cases").glob("*/trace.txt"))


def test_of_a_thousand_secrets_in_two_hundred_logs_none_survives(redact: Redact) -> None:
    chance = random.Random(7)
    survived = []
    count = 0
    for number in range(200):
        lines = RECORDED[number].read_text(encoding="utf-8").splitlines()
        secrets = []
        for _ in range(5):
            line, secret = private_key(chance) if chance.random() < 0.02 else planted(chance)
            secrets.append((line, secret))
            lines.insert(chance.randrange(len(lines)), line)
        found = redact("\n".join(lines)).text
        count += len(secrets)
        survived += [line for line, secret in secrets if secret in found]
    assert count == 1000
    assert survived == []


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda one: f"{one[0]}{one[1]}")
def test_each_kind_of_secret_is_found(
    redact: Redact, template: tuple[str, str, str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(3)
    monkeypatch.setattr(chance, "randrange", lambda _: TEMPLATES.index(template))
    for _ in range(20):
        line, secret = planted(chance)
        found = redact(f"step 1\n{line}\nstep 2\n")
        assert secret not in found.text
        assert sum(found.removed.values()) == 1
        assert found.text.startswith("step 1\n")
        assert found.text.endswith("\nstep 2\n")
        assert redact(found.text).text == found.text


@pytest.mark.parametrize(
    "text",
    [
        "self.tokenizer.eos_token_id = 50256",
        "token_type_ids=token_type_ids, position_ids=position_ids",
        "key_states = self.k_proj(hidden_states)",
        "attn_output = F.scaled_dot_product_attention(query, key, value)",
        "torch 2.6.0+cu124, transformers 4.41.0.dev0, CUDA 12.4.131, driver 550.54.15",
        "listening on 127.0.0.1:29500 and 0.0.0.0",
        "0x7f3a5c001230 <Tensor at 0x7f3a5c001230>",
        "commit 0f8fad5bd9cb469fa16570867728950e0f8fad5b",
        '  File "/opt/conda/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1778, in _call_impl',
        "loss_key: 'loss', secret_layer = model.secret_layer_norm_1.weight",
        "@torch.no_grad()",
        "model.layers.0.self_attn.k_proj.weight: cuda:0",
        "12:30:59.123 rank0: step 10",
        "a @ b.T, x @ self.weight",
        "past_key_values[0][0].shape, cache_key=(batch_size, sequence_length_maximum_0)",
        "next_token = sample_top_p(probabilities_of_step_12)",
        "/home/user/project/train.py",
    ],
)
def test_ordinary_lines_stay(redact: Redact, text: str) -> None:
    assert redact(text) == Redacted(text, {})


def test_it_is_said_by_kind_how_many_different_ones_went(redact: Redact) -> None:
    text = "/home/ana/a.py /home/ana/b.py /home/bo/c.py password=hunter22"
    found = redact(text)
    assert found.text == "/home/user/a.py /home/user/b.py /home/user/c.py password=[password]"
    assert found.removed == {"path": 2, "password": 1}


def test_host_names_go_where_that_is_asked_for(casebase: Casebase) -> None:
    text = "srun: error: node7: task 0\nhostname=gpu-12 at head.cluster.internal"
    rules = casebase.redaction().rules
    assert redactor(rules)(text).text == text
    hidden = redactor(rules, {"hosts"})(text).text
    assert not re.search("node7|gpu-12|head", hidden)


def test_the_answer_to_a_redacted_log_is_the_same(
    redact: Redact, answered: Callable[[str], Diagnosis]
) -> None:
    assert len(TRACES) > 20
    for path in TRACES:
        text = path.read_text(encoding="utf-8", errors="replace")
        one, two = answered(text), answered(redact(text).text)
        assert two.verdict == one.verdict, path
        assert [cause.id for cause in two.causes] == [cause.id for cause in one.causes], path
        assert (two.culprit and two.culprit.line) == (one.culprit and one.culprit.line), path


def test_a_whole_answer_is_redacted(redact: Redact, answered: Callable[[str], Diagnosis]) -> None:
    text = TRACES[0].read_text(encoding="utf-8").replace("/home/user/", "/home/ana/")
    assert "/home/ana/" in text
    diagnosis = answered(text)
    found, removed = redacted(diagnosis, redact)
    assert "/home/ana/" in repr(diagnosis)
    assert "/home/ana/" not in repr(found)
    assert removed == {"path": 1}
    assert type(found) is Diagnosis
    assert found.causes[0].id == diagnosis.causes[0].id


def test_entropy_is_of_bits_a_character() -> None:
    assert entropy("aaaa") == 0
    assert entropy("abcd") == 2
