"""kb/operators.toml against torch's own schemas and torchgen's names."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import pytest
import torch

from diagnose._toml import load
from diagnose.simulation.checks import _SPECIAL
from diagnose.simulation.operators import Rule, is_cpu_only, load_rules, operators_path, rule_of


@cache
def schema_of(name: str) -> Any:
    operator, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, operator), overload or "default")._schema


def test_the_file_is_found() -> None:
    assert operators_path().name == "operators.toml"
    assert len(load_rules()) > 700


def test_every_operator_is_in_one_table_only() -> None:
    with operators_path().open("rb") as file:
        data = load(file)
    names = [name for table in data.values() for name in table]
    assert len(names) == len(set(names))


def test_every_operator_and_argument_exists() -> None:
    for name, rule in load_rules().items():
        arguments = {argument.name: str(argument.type) for argument in schema_of(name).arguments}
        for argument, _ in rule.arguments:
            assert "Tensor" in arguments[argument], (name, argument)


def test_every_operator_of_the_cpu_alone_has_a_kernel_there_and_none_for_cuda() -> None:
    with operators_path().open("rb") as file:
        names = load(file)["cpu_only"]
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    for name in names:
        assert is_cpu_only(name)
        assert has_kernel(name, "CPU"), name
        for key in ("CUDA", "CompositeImplicitAutograd", "CompositeExplicitAutograd"):
            assert not has_kernel(name, key), (
                name,
                key,
            )  # "CUDA" says something in a CUDA build only


def test_every_special_check_names_an_operator() -> None:
    for name in _SPECIAL:
        assert schema_of(name)


def test_names_that_people_search_for() -> None:
    assert rule_of("addmm") == Rule(
        "checked",
        "wrapper_CUDA_addmm",
        (("self", "self"), ("mat1", "mat1"), ("mat2", "mat2")),
    )
    assert rule_of("embedding").arguments == (("weight", "self"), ("indices", "index"))
    assert rule_of("copy_").kind == "free"
    assert rule_of("no_such_operator").kind == "elementwise"


@cache
def torchgens_entries() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    native = resources.files("torchgen") / "packaged" / "ATen" / "native"
    text = (native / "native_functions.yaml").read_text(encoding="utf-8")
    entries = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return {entry["func"].partition("(")[0]: entry for entry in entries}


def table(name: str) -> dict[str, Any]:
    with operators_path().open("rb") as file:
        return load(file)[name]  # type: ignore[no-any-return]


def test_wrapper_names_are_torchgens() -> None:
    wrong = []
    for name, checked in table("checked").items():
        entry = torchgens_entries()[name]
        operator, _, overload = name.partition(".")
        if any(argument.is_out for argument in schema_of(name).arguments):
            operator += "_out"
        if entry.get("structured") or "structured_delegate" in entry:
            expected = f"wrapper_CUDA_{operator}" + (f"_{overload}" if overload else "")
        else:
            expected = f"wrapper_CUDA_{overload}_{operator}"
        if checked["method"] != expected:
            wrong.append((name, checked["method"], expected))
    assert not wrong


def test_what_torchgen_leaves_unchecked() -> None:
    unchecked = {
        name
        for name, entry in torchgens_entries().items()
        if entry.get("device_check") == "NoCheck"
    }
    assert not set(table("checked")) & unchecked
    assert len(set(table("elementwise")) & unchecked) > 200
