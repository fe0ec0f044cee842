"""What code calls its things: words of people, and names of torch."""

# Annotations are evaluated here: of strings `NamedTuple` would compile each, at every start.
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from diagnose.model.effects import Effects

#: Found in no text.
_NEVER = re.compile(r"(?!)")


class Words(NamedTuple):
    """What people call things, as far as the engine itself asks for it (kb/words.toml): patterns that are
    searched in a name, or in a sentence of somebody who describes a failure."""

    constants: re.Pattern[str] = _NEVER
    plain_attributes: re.Pattern[str] = _NEVER
    heads: re.Pattern[str] = _NEVER
    first_layers: re.Pattern[str] = _NEVER
    second_models: re.Pattern[str] = _NEVER
    tables: re.Pattern[str] = _NEVER
    labels: re.Pattern[str] = _NEVER
    loop_names: re.Pattern[str] = _NEVER
    no_tensors: re.Pattern[str] = _NEVER
    results: re.Pattern[str] = _NEVER
    options: re.Pattern[str] = _NEVER
    lone_numbers: re.Pattern[str] = _NEVER
    files: re.Pattern[str] = _NEVER
    denials: re.Pattern[str] = _NEVER
    attempts: re.Pattern[str] = _NEVER
    advice: re.Pattern[str] = _NEVER
    advice_headings: re.Pattern[str] = _NEVER
    cause_headings: re.Pattern[str] = _NEVER
    fix_headings: re.Pattern[str] = _NEVER
    reasons: re.Pattern[str] = _NEVER
    fixed: re.Pattern[str] = _NEVER
    without_cuda: re.Pattern[str] = _NEVER
    furniture: re.Pattern[str] = _NEVER
    furniture_headings: re.Pattern[str] = _NEVER
    homonyms: re.Pattern[str] = _NEVER
    software: re.Pattern[str] = _NEVER
    platform: re.Pattern[str] = _NEVER


Names = frozenset[str]
_NONE: Names = frozenset()
_NO_EFFECTS = Effects()
_NOTHING: Mapping[str, Sequence[str]] = MappingProxyType({})


class TorchNames(NamedTuple):
    """What torch, and libraries around it, call their things (kb/torch.toml says of each list what it
    holds). ``takes`` maps a function or method to its operands in their order, ``keywords`` an operand
    to what functions call it, ``missing`` a container of modules to what it lacks of a list or dict,
    ``distributions`` one of torch.distributions to what it takes; ``effects`` are of kb/effects.toml;
    ``elementwise`` holds the names in place too."""

    takes: Mapping[str, Sequence[str]] = _NOTHING
    keywords: Mapping[str, Sequence[str]] = _NOTHING
    missing: Mapping[str, Sequence[str]] = _NOTHING
    distributions: Mapping[str, Sequence[str]] = _NOTHING
    effects: Effects = _NO_EFFECTS
    first_factors: Names = _NONE
    second_factors: Names = _NONE
    size_operands: Names = _NONE
    number_keywords: Names = _NONE
    factories: Names = _NONE
    host_factories: Names = _NONE
    tensor_results: Names = _NONE
    elementwise: Names = _NONE
    joins: Names = _NONE
    same_device: Names = _NONE
    tensor_factories: Names = _NONE
    same_device_results: Names = _NONE
    of_tensors: Names = _NONE
    shaping: Names = _NONE
    dimensioning: Names = _NONE
    refusing: Names = _NONE
    bringing: Names = _NONE
    scalar_keywords: Names = _NONE
    widening: Names = _NONE
    indexing: Names = _NONE
    several_results: Names = _NONE
    reductions: Names = _NONE
    in_a_row: Names = _NONE
    filled: Names = _NONE
    losses: Names = _NONE
    computing: Names = _NONE
    without_gradient: Names = _NONE
    taking_any: Names = _NONE
    moves: Names = _NONE
    host_results: Names = _NONE
    numbers: Names = _NONE
    tensor_numbers: Names = _NONE
    tensor_attributes: Names = _NONE
    no_tensor_results: Names = _NONE
    of_arrays: Names = _NONE
    torch: Names = _NONE
    of_torch: Names = _NONE
    numpy: Names = _NONE
    packages: Names = _NONE
    accelerators: Names = _NONE
    weightless_layers: Names = _NONE
    weightless_prefixes: Names = _NONE
    weightless_suffixes: Names = _NONE
    weighted_layers: Names = _NONE
    module_classes: Names = _NONE
    module_suffixes: Names = _NONE
    model_prefixes: Names = _NONE
    module_containers: Names = _NONE
    module_methods: Names = _NONE
    module_results: Names = _NONE
    module_attributes: Names = _NONE
    other_module_methods: Names = _NONE
    growing: Names = _NONE
    running: Names = _NONE
    running_prefixes: Names = _NONE
    module_settings: Names = _NONE
    number_suffixes: Names = _NONE
    layer_names: Names = _NONE
    setup_methods: Names = _NONE
    early_optimizers: Names = _NONE
    late_optimizers: Names = _NONE
    model_libraries: Names = _NONE
    other_frameworks: Names = _NONE
    other_framework_prefixes: Names = _NONE
    operations: Names = _NONE
    function_libraries: Names = _NONE
    library_refusing: Names = _NONE
    host_packages: Names = _NONE
    other_packages: Names = _NONE
    model_loaders: Names = _NONE
    checkpoint_loaders: Names = _NONE
    adapter_makers: Names = _NONE
    datasets: Names = _NONE
    batch_methods: Names = _NONE
    dict_methods: Names = _NONE
    step_methods: Names = _NONE
    trainer_steps: Names = _NONE
    moving_in_place: Names = _NONE
    similarities: Names = _NONE
    noise_tables: Names = _NONE
    without_to: Names = _NONE
    replicating_libraries: Names = _NONE
    gpu_libraries: Names = _NONE
    drawing_methods: Names = _NONE
    floating_factories: Names = _NONE
    integral_factories: Names = _NONE
    floating_methods: Names = _NONE
    integral_methods: Names = _NONE
    floating_types: Names = _NONE
    integral_types: Names = _NONE
    generation_arguments: Names = _NONE

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "TorchNames":
        """The names that the case base holds: its lists are sets, its tables stay."""
        held: dict[str, Any] = {
            name: names if isinstance(names, Mapping) else frozenset(names)
            for name, names in record.items()
            if name != "effects"
        }
        return cls(**held, effects=Effects(record.get("effects", ())))
