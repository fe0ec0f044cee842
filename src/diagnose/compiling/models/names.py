"""words.toml, torch.toml, aten.toml and effects.toml: what code calls its things, and what calls do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, ValidationInfo

from diagnose import model
from diagnose.compiling.models.strict import SomeTexts, Strict, StrictRoot, near, wrong
from diagnose.compiling.words import NAME
from diagnose.model.effects import is_guess
from diagnose.placement.libraries.effects import WORDS


class Words(
    StrictRoot[dict[Annotated[str, StringConstraints(pattern=r"^[a-z]+(-[a-z]+)*$")], SomeTexts]]
):
    """Named lists of words, each a regular expression; @name in one stands for another list."""


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise wrong(f"holds {', '.join(twice)} twice")
    return names


#: What code calls: a name, or several with dots.
_Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")]
_Names = Annotated[tuple[_Name, ...], Field(strict=False, min_length=1), AfterValidator(_once)]
#: An operand: a parameter of torch's schemas, or a role of operands.toml.
_Operand = Annotated[str, StringConstraints(pattern=r"^[a-z]\w*(-[a-z]+)*$")]
_Operands = Annotated[
    tuple[_Operand, ...], Field(strict=False, min_length=1), AfterValidator(_once)
]


class Functions(Strict):
    """Functions and methods that take the same operands, in this order."""

    names: _Names
    takes: _Operands


class Aten(Strict):
    """What torch declares of its operators (scripts/aten.py), under the names of lists of torch.toml."""

    model_config = ConfigDict(alias_generator=lambda name: name.replace("_", "-"))

    operations: _Names
    joins: _Names
    several_results: _Names
    losses: _Names
    reductions: _Names


class TorchNames(Strict):
    """What torch, and libraries around it, call their things: plain names."""

    model_config = ConfigDict(alias_generator=lambda name: name.replace("_", "-"))

    functions: Annotated[tuple[Functions, ...], Field(strict=False, min_length=1)]
    first_factors: _Names
    second_factors: _Names
    size_operands: _Names
    number_keywords: _Names
    sized_factories: _Names
    other_factories: _Names
    host_factories: _Names
    tensor_results: _Names
    elementwise: _Names
    joins: _Names = ()
    same_device: _Names
    tensor_factories: _Names
    same_device_results: _Names
    of_tensors: _Names
    shaping: _Names
    dimensioning: _Names
    refusing: _Names
    bringing: _Names
    scalar_keywords: _Names
    widening: _Names
    indexing: _Names
    several_results: _Names = ()
    reductions: _Names = ()
    in_a_row: _Names
    filled: _Names
    losses: _Names = ()
    computing: _Names
    without_gradient: _Names
    taking_any: _Names
    moves: _Names
    host_results: _Names
    numbers: _Names
    tensor_numbers: _Names
    tensor_attributes: _Names
    no_tensor_results: _Names
    of_arrays: _Names
    torch: _Names
    of_torch: _Names
    numpy: _Names
    packages: _Names
    accelerators: _Names
    weightless_layers: _Names
    weightless_prefixes: _Names
    weightless_suffixes: _Names
    weighted_layers: _Names
    module_classes: _Names
    module_suffixes: _Names
    model_prefixes: _Names
    module_containers: _Names
    module_methods: _Names
    module_results: _Names
    module_attributes: _Names
    other_module_methods: _Names
    growing: _Names
    running: _Names
    running_prefixes: _Names
    module_settings: _Names
    number_suffixes: _Names
    layer_names: _Names
    setup_methods: _Names
    early_optimizers: _Names
    late_optimizers: _Names
    model_libraries: _Names
    other_frameworks: _Names
    other_framework_prefixes: _Names
    operations: _Names = ()
    function_libraries: _Names
    library_refusing: _Names
    host_packages: _Names
    other_packages: _Names
    model_loaders: _Names
    checkpoint_loaders: _Names
    adapter_makers: _Names
    datasets: _Names
    batch_methods: _Names
    dict_methods: _Names
    step_methods: _Names
    trainer_steps: _Names
    moving_in_place: _Names
    similarities: _Names
    noise_tables: _Names
    without_to: _Names
    replicating_libraries: _Names
    gpu_libraries: _Names
    drawing_methods: _Names
    floating_factories: _Names
    integral_factories: _Names
    floating_methods: _Names
    integral_methods: _Names
    floating_types: _Names
    integral_types: _Names
    generation_arguments: _Names
    keywords: Mapping[_Operand, _Names]
    missing: Mapping[_Name, _Names]
    distributions: Mapping[_Name, _Names]

    def beside(self, aten: Aten) -> TorchNames:
        """The same with what torch declares itself."""
        lists = {name: (*getattr(self, name), *getattr(aten, name)) for name in Aten.model_fields}
        return self.model_copy(update=lists)

    def value(self) -> dict[str, Any]:
        """What the case base holds (`diagnose.model.TorchNames`)."""
        kept = set(model.TorchNames._fields) - {"takes", "factories", "elementwise"}
        return self.model_dump(mode="json", include=kept) | {
            "takes": {name: list(one.takes) for one in self.functions for name in one.names},
            "factories": [*self.sized_factories, *self.other_factories],
            "elementwise": [name + end for name in self.elementwise for end in ("", "_")],
        }


def _of_known_list(value: str, info: ValidationInfo) -> str:
    known = (info.context or {}).get("words")
    if known is not None and (said := NAME.search(value)) is not None and said[1] not in known:
        raise wrong(f"names the list @{said[1]}, which torch.toml does not hold")
    return value


#: A callable: parts with dots between, of letters, "*", "[A-Z]" and "@list".
_Callable = Annotated[str, StringConstraints(pattern=r"^[\w*@\[][\w*@\[\]-]*(\.[\w*@\[\]-]+)*$")]
_Pattern = Annotated[_Callable, AfterValidator(_of_known_list)]
_Parameter = Annotated[str, StringConstraints(pattern=r"^[a-z]\w*$")]
_Parameters = Annotated[tuple[_Parameter, ...], Field(strict=False)]


def _word(value: str) -> str:
    if value not in WORDS:
        raise wrong(f"{value!r} is no word of placement/libraries/effects.py{near(value, WORDS)}")
    return value


def _marked(value: bool, info: ValidationInfo) -> bool:
    guessed = [name for name in info.data.get("names", ()) if is_guess(name)]
    if guessed and not value:
        raise wrong(f"{guessed[0]!r} is of any package: say guess = true")
    return value


class Row(Strict):
    """What the callables of some names do."""

    names: Annotated[tuple[_Pattern, ...], Field(strict=False, min_length=1)]
    guess: Annotated[bool, AfterValidator(_marked), Field(validate_default=True)] = False
    does: Annotated[str, AfterValidator(_word)]
    of: str = ""
    to: str = ""
    gives: str = ""
    takes: _Parameters = ()
    without: _Parameters = ()
    fills: bool = False


def _one_row_each(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    names = Counter(name for row in rows for name in row.names)
    if twice := sorted(name for name, count in names.items() if count > 1):
        raise wrong(f"holds {', '.join(twice)} twice")
    return rows


class Effects(Strict):
    """The rows, each name once."""

    effect: Annotated[tuple[Row, ...], Field(strict=False), AfterValidator(_one_row_each)]

    def value(self, torch: TorchNames) -> list[dict[str, Any]]:
        """What the case base holds (`diagnose.model.effects.Effects`), lists of torch.toml written out."""
        lists = torch.model_dump(by_alias=True)
        written = {name for row in self.effect for name in row.names}

        def names(name: str) -> list[str]:
            if (said := NAME.search(name)) is None:
                return [name]
            every = [name.replace(said[0], each) for each in lists[said[1]]]
            return [each for each in every if each not in written]  # which another row names

        return [
            row.model_dump(exclude_defaults=True, exclude={"guess"})
            | {"names": [each for name in row.names for each in names(name)]}
            for row in self.effect
        ]
