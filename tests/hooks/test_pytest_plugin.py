"""The plugin for pytest, in runs of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

import diagnose

pytest_plugins = ["pytester"]

FAILS = """
import pytest

def work(n):
    raise RuntimeError("Expected all tensors to be on the same device, but found at least two devices, "
                       "cuda:0 and cpu!")

@pytest.mark.parametrize("n", range({count}))
def test_one(n):
    work(n)

def test_other():
    assert 1 == 2
"""
SIMULATED = """
import pytest
import torch

def test_fails(simulated_gpus):
    simulated_gpus(2)
    layer = torch.nn.Linear(2, 2)
    layer(torch.ones(1, 2, device="cuda:1"))

def test_passes(simulated_gpus):
    simulated_gpus(3)
    assert torch.cuda.device_count() == 3

def test_after():
    assert torch.cuda.device_count() == 0
"""
TITLE = "- diagnose -"


@pytest.fixture
def run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, casebase_path: Path
) -> pytest.Pytester:
    """A folder whose runs have this plugin, and no other that happens to be installed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "diagnose.pytest_plugin")
    monkeypatch.setenv("PYTHONPATH", str(Path(diagnose.__file__).parents[1]))
    monkeypatch.delenv("DIAGNOSE_LANG", raising=False)
    return pytester


def ran(run: pytest.Pytester, *options: str) -> pytest.RunResult:
    return run.runpytest_subprocess("-p", "no:cacheprovider", *options)


def test_a_cause_is_told_once(run: pytest.Pytester) -> None:
    run.makepyfile(FAILS.format(count=200))
    with_plugin, without = ran(run), ran(run, "--diagnose=off")
    with_plugin.assert_outcomes(failed=201)
    text = with_plugin.stdout.str()
    assert text.count(TITLE) == 1
    assert text.index("test_one[0] _") < text.index(TITLE) < text.index("test_one[1] _")
    assert text.count("Because  ") == 1
    assert "::test_one[0]: the same cause in 199 more" in text
    assert "diagnose" not in "\n".join(without.outlines[4:])
    assert len(with_plugin.outlines) - len(without.outlines) < 20


def test_two_causes_are_told_each(run: pytest.Pytester) -> None:
    other = FAILS.format(count=2).replace("work", "other_work").replace("test_", "test_other_")
    run.makepyfile(test_a=FAILS.format(count=2), test_b=other)
    assert ran(run).stdout.str().count(TITLE) == 2


def test_workers_tell_it_once(run: pytest.Pytester) -> None:
    run.makepyfile(FAILS.format(count=8))
    found = ran(run, "-p", "xdist.plugin", "-n", "2")
    found.assert_outcomes(failed=9)
    assert found.stdout.str().count(TITLE) == 1
    assert "the same cause in 7 more" in found.stdout.str()


def test_in_chinese(run: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIAGNOSE_LANG", "zh")
    run.makepyfile(FAILS.format(count=2))
    assert "另有 1 个测试因同一原因失败" in ran(run).stdout.str()


@pytest.mark.parametrize(
    ("program", "loaded"),
    [
        ("def test_good():\n    pass\n", {"diagnose", "diagnose.pytest_plugin"}),
        ("def test_bad():\n    assert 1 == 2\n", None),
    ],
)
def test_what_a_run_without_device_failures_imports(
    run: pytest.Pytester, program: str, loaded: set[str] | None
) -> None:
    run.makeconftest(
        "import sys\n\ndef pytest_unconfigure():\n"
        "    print('\\nloaded', *sorted(name for name in sys.modules if name.startswith('diagnose')))\n"
    )
    run.makepyfile(program)
    (line,) = [one for one in ran(run).outlines if one.startswith("loaded ")]
    names = set(line.split()[1:])
    assert names == loaded if loaded else "diagnose.pipeline" not in names


def test_tests_on_simulated_gpus(run: pytest.Pytester) -> None:
    run.makepyfile(SIMULATED)
    found = ran(run)
    found.assert_outcomes(passed=2, failed=1)
    text = found.stdout.str()
    assert "diagnose explain module-not-moved" in text
    assert "simulation/" not in text
