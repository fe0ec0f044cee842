"""Versions that a log states, and sentences that state none."""

from __future__ import annotations

import pytest

from diagnose.parsing.lines import Peeled
from diagnose.parsing.versions import stated

NAMES = {
    "vllm": ("vllm", "vLLM API server", "LLM engine"),
    "torch": ("torch", "PyTorch"),
    "transformers": ("transformers",),
    "flash_attn": ("flash_attn", "flash-attn"),
    "unsloth": ("unsloth",),
    "accelerate": ("accelerate",),
}


def of(text: str) -> list[tuple[str, str]]:
    lines = [Peeled(number, line) for number, line in enumerate(text.splitlines(), 1)]
    return list(stated(lines, NAMES))


@pytest.mark.parametrize(
    ("text", "library", "version"),
    [
        ("transformers==4.41.2", "transformers", "4.41.2"),
        ("flash-attn==2.6.3", "flash_attn", "2.6.3"),
        ("[pip3] torch==2.4.0+cu121", "torch", "2.4.0+cu121"),
        ("[conda] torch        2.4.0         pypi_0    pypi", "torch", "2.4.0"),
        ("pytorch      2.1.0   py3.10_cuda12.1_cudnn8.9.2_0  conda", "torch", "2.1.0"),
        ("transformers              4.44.0.dev0", "transformers", "4.44.0.dev0"),
        ("- `transformers` version: 4.41.2", "transformers", "4.41.2"),
        ("- PyTorch version (GPU?): 2.3.0+cu121 (True)", "torch", "2.3.0+cu121"),
        ("PyTorch version: 2.5.1+cu124", "torch", "2.5.1+cu124"),
        ("vLLM Version: 0.6.3.post1", "vllm", "0.6.3.post1"),
        ("INFO 10-24 api_server.py:528] vLLM API server version 0.6.3", "vllm", "0.6.3"),
        ("INFO 10-24 Initializing an LLM engine (v0.6.3) with config: x", "vllm", "0.6.3"),
        ("==((====))==  Unsloth 2024.8: Fast Llama patching.", "unsloth", "2024.8"),
        ("   \\\\   /|    Torch: 2.6.0+cu124. CUDA: 7.5.", "torch", "2.6.0+cu124"),
        ("Transformers = 4.43.3.", "transformers", "4.43.3"),
        ("Name: accelerate\nVersion: 0.33.0\nSummary: x", "accelerate", "0.33.0"),
        ("Successfully installed a-1.0 transformers-4.46.0 vllm-0.6.3", "vllm", "0.6.3"),
        ("torch.__version__ = '2.2.1'", "torch", "2.2.1"),
    ],
)
def test_a_version_is_read(text: str, library: str, version: str) -> None:
    assert (library, version) in of(f"before\n{text}\nafter")


@pytest.mark.parametrize(
    "text",
    [
        "`x` is deprecated and will be removed in Transformers v4.50",
        "will be removed in version 4.40 of transformers",
        "transformers>=4.41.0,<5",
        "vllm 0.6.3 requires torch==2.4.0, but you have torch 2.5.1 which is incompatible.",
        "sentence-transformers==3.0.1",
        "pytorch-lightning==2.4.0",
        "intel_extension_for_pytorch==2.1",
        "PyTorch 2.6 changed the default of weights_only",
        "/opt/torch/2.1/lib",
        "Downloading torch-2.1.0-cp310-cp310-linux_x86_64.whl (670 MB)",
        "cuda:0 and cpu",
        "transformers",
    ],
)
def test_what_states_none_is_not(text: str) -> None:
    assert of(f"before\n{text}\nafter") == []


def test_of_two_versions_both_are_told() -> None:
    assert of("torch==2.1.0\ntorch==2.1.0\nPyTorch version: 2.4.1") == [
        ("torch", "2.1.0"),
        ("torch", "2.4.1"),
    ]


def test_long_and_hostile_lines_take_no_time() -> None:
    assert of("\n".join(["torch" + " " * 100_000, "[" * 50_000, "Name: torch\n" * 2000])) == []
