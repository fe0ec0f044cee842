"""A device map, checked against a model of which nothing is loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from checking.test_command import check as run_check

from diagnose.checking.answering import Wanted, answer_map
from diagnose.checking.device_map import DeviceMapError, check_map
from diagnose.checking.formats import FORMATS

TENSORS = [
    "model.embed_tokens.weight",
    *(f"model.layers.{n}.{part}.weight" for n in (0, 1) for part in ("self_attn.q_proj", "mlp.up")),
    "model.norm.weight",
    "lm_head.weight",
]
WHOLE = {"model.embed_tokens": 0, "model.layers.0": 0, "model.layers.1": "cuda:1", "model.norm": 1, "lm_head": 1}  # fmt: skip


def found(folder: Path, devices: dict[str, Any], model: Path) -> list[tuple[str, str, int]]:
    path = folder / "map.json"
    path.write_text(json.dumps(devices, indent=1))
    report = check_map(path, str(model))
    return [
        (one.id.removeprefix("device-map-"), one.sentence.split("`")[1], one.place.line)
        for one in report.findings
    ]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": dict.fromkeys(TENSORS, "model.safetensors")}))
    return path


WRONG = [
    (WHOLE, []),
    ({"": 0}, []),
    (WHOLE | {"model": 0}, []),
    (WHOLE | {"lm_haed": 0}, [("unmatched", "lm_haed", 7)]),
    ({"model": 0}, [("uncovered", "lm_head", 1)]),
    ({"model.embed_tokens": 0, "model.norm": 1, "lm_head": 1}, [("uncovered", "model.layers", 1)]),
    (
        {"model.layers.0.self_attn": "0", "model.layers.0.mlp": 1} | WHOLE,
        [("split", "model.layers.0", 2)],
    ),
    ({"model.layers.0.self_attn": "cuda:0", "model.layers.0.mlp": 0} | WHOLE, []),
]


@pytest.mark.parametrize(("devices", "wrong"), WRONG)
def test_what_names_of_weights_tell(
    devices: dict[str, Any], wrong: list[Any], index: Path, tmp_path: Path
) -> None:
    assert found(tmp_path, devices, index) == wrong
    assert found(tmp_path, devices, tmp_path) == wrong


def test_weights_are_read_from_their_header(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_file

    save_file({"fc.weight": torch.zeros(2)}, tmp_path / "model.safetensors", {"format": "pt"})
    assert found(tmp_path, {"fc": 0}, tmp_path / "model.safetensors") == []
    assert found(tmp_path, {"head": 0}, tmp_path) == [
        ("uncovered", "fc", 1),
        ("unmatched", "head", 2),
    ]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The configuration of a Llama with two layers, whose head is its embedding."""
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        num_hidden_layers=2, hidden_size=8, intermediate_size=8, num_attention_heads=2,
        num_key_value_heads=2, vocab_size=16, tie_word_embeddings=True,
        architectures=["LlamaForCausalLM"],
    )  # fmt: skip
    config.save_pretrained(folder := tmp_path_factory.mktemp("tiny"))
    return Path(folder)


def test_a_configuration_tells_all(tiny: Path, tmp_path: Path) -> None:
    rotary = WHOLE | {"model.rotary_emb": 0}
    assert found(tmp_path, rotary, tiny) == [("tied", "lm_head.weight", 6)]
    tied = rotary | {"lm_head": 0}
    assert found(tmp_path, tied, tiny / "config.json") == []
    layers = {f"model.layers.0.{part}": n % 2 for n, part in enumerate(("self_attn", "mlp"))}
    norms = dict.fromkeys(
        ("model.layers.0.input_layernorm", "model.layers.0.post_attention_layernorm"), 0
    )
    del tied["model.layers.0"]
    assert found(tmp_path, layers | norms | tied, tiny) == [("split", "model.layers.0", 2)]


def test_accelerate_infers_maps_without_a_finding(tiny: Path, tmp_path: Path) -> None:
    transformers, accelerate = map(pytest.importorskip, ("transformers", "accelerate"))
    model = transformers.AutoModelForCausalLM.from_config(
        transformers.AutoConfig.from_pretrained(tiny)
    )
    devices = accelerate.infer_auto_device_map(
        model, {0: 3_500, "cpu": 10**6}, no_split_module_classes=model._no_split_modules
    )
    assert len(set(devices.values())) == 2
    assert found(tmp_path, devices, tiny) == []


@pytest.mark.parametrize(
    ("text", "model", "reason"),
    [
        ("{", "index.json", "is no JSON"),
        ("[1]", "index.json", "holds no JSON object"),
        ("{}", "nobody/has-this", "cannot be read as a model"),
        ("{}", "empty.safetensors", "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told(text: str, model: str, reason: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    (tmp_path / "map.json").write_text(text)
    (tmp_path / "empty.safetensors").write_bytes(b"")
    name = str(tmp_path / model) if "." in model else model
    with pytest.raises(DeviceMapError, match=reason):
        check_map(tmp_path / "map.json", name)


def test_the_command(index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "map.json").write_text('{"model": 0}')
    for form in FORMATS:
        assert answer_map(tmp_path / "map.json", str(index), Wanted(form=form)) == 1
        assert "`lm_head` gets no device" in capsys.readouterr().out
    run = run_check("--device-map", "map.json", "--model", ".", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (1, "")
    assert run.stdout.splitlines()[-1].startswith("1 finding in 1 of 1 file")
    assert run_check("--device-map", "map.json", cwd=tmp_path).returncode == 2
    assert (
        run_check("--device-map", "map.json", "--model", ".", "a.py", cwd=tmp_path).returncode == 2
    )
