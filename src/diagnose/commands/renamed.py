"""Command lines of the release before this one, as this one says them; they go with the next one."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.commands import RENAMED

#: Options that have other names now, by the command that had them.
_OPTIONS = {
    "simulate": {"--gpus": "--simulate", "--report": "--output"},
    "verify": {"--gpus": "--simulate", "--from": "--verify", "--write": "--output"},
}
#: The same of commands that have kept their names.
_OF_COMMANDS = {"kb evaluate": {"--plot": "--output", "--save": "--output"}}
_WITH_VALUE = frozenset(
    {"--gpus", "--report", "--from", "--write", "--source", "--steps", "--wording"}
)


def current(args: Sequence[str]) -> list[str]:
    """What a command line of the last release is now.

    Args:
        args: its words; the first is one of `RENAMED`.
    """
    name, *rest = args
    read = _READ.get(name)
    return read(rest) if read is not None else [*RENAMED[name].split(), *rest]


def options(args: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """A command line with the names that its options have now, and the old ones that stood in it.

    Args:
        args: its words, the first the name of a command of today.
    """
    known = _OF_COMMANDS.get(" ".join(args[:2]), {})
    words = [word.partition("=") for word in args]
    now = ["".join((known.get(name, name), *value)) for name, *value in words]
    return now, {name: known[name] for name, *_ in words if name in known}


def _options(rest: Sequence[str], names: int) -> tuple[list[tuple[str, str | None]], list[str]]:
    """The options before so many other words, each with its value or None, and all other words."""
    found: list[tuple[str, str | None]] = []
    left = list(rest)
    words: list[str] = []
    while left and len(words) < names and not any(word.endswith(".py") for word in words):
        word = left.pop(0)
        if word == "--":
            break
        name, equals, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            words.append(word)
        elif equals:
            found.append((name, value))
        else:
            found.append((word, left.pop(0) if word in _WITH_VALUE and left else None))
    return found, [*words, *left]


def _said(option: str, value: str | None) -> list[str]:
    return [option] if value is None else [option, value]


def _simulated(rest: Sequence[str]) -> list[str]:
    found, words = _options(rest, 1)
    gpus = dict(found).get("--gpus")
    said = [f"--simulate={gpus}" if gpus else "--simulate"]
    for option, value in found:
        if option != "--gpus":
            said += _said(_OPTIONS["simulate"].get(option, option), value)
    return ["run", *said, *words]


def _verified(rest: Sequence[str]) -> list[str]:
    found, words = _options(rest, 2)
    given = dict(found)
    if given.keys() & {"-h", "--help"}:
        return ["run", "--help"]
    script = next((at for at, word in enumerate(words[:2]) if word.endswith(".py")), None)
    ident = words[0] if words and script != 0 else ""
    wanted = given.get("--from") or ident
    program = words[script:] if script is not None else []
    others = [
        part
        for option, value in found
        if option not in ("--from", "--run", "--simulate", "--gpus", "--write")
        for part in _said(option, value)
    ]
    runs = script is not None or "--run" in given or "--simulate" in given
    target = ["--output", given["--write"] or ""] if "--write" in given else []
    if not runs and given.get("--from"):
        return ["answer", "--verification", given.get("--write") or "-", *others, wanted]
    if not runs:
        return ["explain", "--verification", *target, *([wanted] if wanted else [])]
    gpus = given.get("--gpus")
    simulated = f"--simulate={gpus}" if gpus else "--simulate"
    said = [simulated] if "--simulate" in given else []
    return ["run", *said, f"--verify={wanted}", *others, *program]


def _of_cases(rest: Sequence[str]) -> list[str]:
    if rest[:1] == ["list"]:
        return ["explain"]
    return ["explain", *rest[1:]] if rest[:1] == ["show"] else ["kb", *rest]


def _grouped(rest: Sequence[str]) -> list[str]:
    return ["answer", "--group", *(_FORMS.get(word, word) for word in rest)]


#: The form of a scan that has another name now.
_FORMS = {"table": "text"}
#: Commands whose words are not the same behind another name.
_READ = {"cases": _of_cases, "scan": _grouped, "simulate": _simulated, "verify": _verified}
