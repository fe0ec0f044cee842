"""effects.toml: what calls of libraries do to devices."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo

from diagnose.compiling.models.names import TorchNames
from diagnose.compiling.models.strict import Strict, near, wrong
from diagnose.compiling.words import NAME
from diagnose.model.effects import is_guess
from diagnose.placement.libraries.words import WORDS


def _of_known_list(value: str, info: ValidationInfo) -> str:
    known = (info.context or {}).get("words")
    if known is not None and (said := NAME.search(value)) is not None and said[1] not in known:
        raise wrong(f"names the list @{said[1]}, which torch.toml does not hold")
    return value


#: A callable: parts with dots between, of letters, "*", "[A-Z]" and "@list".
_Name = Annotated[str, StringConstraints(pattern=r"^[\w*@\[][\w*@\[\]-]*(\.[\w*@\[\]-]+)*$")]
_Pattern = Annotated[_Name, AfterValidator(_of_known_list)]
_Parameter = Annotated[str, StringConstraints(pattern=r"^[a-z]\w*$")]
_Parameters = Annotated[tuple[_Parameter, ...], Field(strict=False)]


def _word(value: str) -> str:
    if value not in WORDS:
        raise wrong(f"{value!r} is no word of placement/libraries/words.py{near(value, WORDS)}")
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


def _once(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    names = Counter(name for row in rows for name in row.names)
    if twice := sorted(name for name, count in names.items() if count > 1):
        raise wrong(f"holds {', '.join(twice)} twice")
    return rows


class Effects(Strict):
    """The rows, each name once."""

    effect: Annotated[tuple[Row, ...], Field(strict=False), AfterValidator(_once)]

    def value(self, torch: TorchNames) -> list[dict[str, Any]]:
        """What the case base holds (`diagnose.model.effects.Effects`), lists of torch.toml written out."""
        lists = torch.model_dump(by_alias=True)
        written = {name for row in self.effect for name in row.names}

        def names(name: str) -> list[str]:
            if (said := NAME.search(name)) is None:
                return [name]
            every = [name.replace(said[0], each) for each in lists[said[1]]]
            return [each for each in every if each not in written]  # which another row tells of

        return [
            row.model_dump(exclude_defaults=True, exclude={"guess"})
            | {"names": [each for name in row.names for each in names(name)]}
            for row in self.effect
        ]
