"""What a project sets for diagnose: ``[tool.diagnose]`` in the nearest pyproject.toml.

    [tool.diagnose]
    lang = "zh"

    [tool.diagnose.check]
    select = ["unregistered-tensor"]
    exclude = ["third_party"]

Options of the command line go before it. Nothing that changes code can be set here, and the only
file that is written is the ``store``, by `diagnose remember`, which says so: a folder that somebody else
wrote decides what is shown, not what is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diagnose.errors import DiagnoseError

_FILE = "pyproject.toml"
_TABLE = b"tool.diagnose"
#: By command: setting -> its type and the parameter of the command that it is the default of. "" are those
#: of every command.
_SETTINGS: Mapping[str, Mapping[str, tuple[type, str]]] = {
    "": {"lang": (str, "lang"), "store": (str, "store")},
    "answer": {"format": (str, "form"), "top": (int, "top"), "source": (list, "source")},
    "check": {
        "exclude": (list, "exclude"),
        "format": (str, "form"),
        "ignore": (list, "ignore"),
        "preview": (bool, "preview"),
        "select": (list, "select"),
        "warn-unused-ignores": (bool, "warn_unused"),
    },
}
#: A folder that somebody else wrote must not make anybody connect to a database.
_FILES_ONLY = frozenset({"store"})
_NOWHERE = "none"
_NAMES = {str: "a text", int: "a whole number", list: "a list of texts", bool: "true or false"}


class ConfigurationError(DiagnoseError):
    """Settings that cannot be read or are none; the message is a sentence with the file's name."""


def configured(folder: Path | None = None) -> Path | None:
    """The nearest pyproject.toml that sets something for diagnose, in a folder or above it.

    Args:
        folder: where to begin; the current one if None.
    """
    begin = (folder or Path()).absolute()
    for path in (one / _FILE for one in (begin, *begin.parents)):
        try:
            if _TABLE in path.read_bytes():
                return path
        except OSError:
            continue
    return None


def defaults(commands: Mapping[str, object], folder: Path | None = None) -> dict[str, Any]:
    """What options default to, by command and parameter.

    Args:
        commands: the names of all commands.
        folder: as for `configured`.

    Raises:
        ConfigurationError: the file cannot be read, or sets what there is not.
    """
    path = configured(folder)
    if path is None:
        return {}
    from diagnose._toml import TOMLDecodeError, loads

    try:
        table = loads(path.read_text("utf-8")).get("tool", {}).get("diagnose", {})
    except (OSError, UnicodeDecodeError, TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from error
    found: dict[str, Any] = {command: {} for command in commands}
    for key, value in table.items():
        if key in _SETTINGS and isinstance(value, dict):
            for name, one in value.items():
                found[key] |= _setting(path, key, name, one)
        else:
            for command in found:
                found[command] = _setting(path, "", key, value) | found[command]
    return found


def _setting(path: Path, command: str, name: str, value: object) -> dict[str, object]:
    """A parameter and its default."""
    table = ".".join(filter(None, ("tool.diagnose", command)))
    known = _SETTINGS[command]
    if name not in known:
        names = ", ".join([*known, *(() if command else filter(None, _SETTINGS))])
        raise ConfigurationError(f"{path}: [{table}] has no {name}; there are {names}")
    wanted, parameter = known[name]
    listed = isinstance(value, list) and all(isinstance(one, str) for one in value)
    if type(value) is not wanted or (wanted is list and not listed):
        raise ConfigurationError(f"{path}: {name} in [{table}] is {_NAMES[wanted]}")
    if name in _FILES_ONLY:
        if "://" in str(value):
            raise ConfigurationError(f"{path}: {name} in [{table}] is a file, never a database")
        return {parameter: value if value == _NOWHERE else str(path.parent / str(value))}
    return {parameter: value}
