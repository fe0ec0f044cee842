"""The same incident as another run prints it: other line numbers, folders, releases, ranks and wordings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

_LINE = re.compile(r"(\", line )(\d+)")
_SITE = re.compile(r"(?:/[\w.+-]+)*/(?:site|dist)-packages/")
_OWN = re.compile(r'(File ")((?:/[\w.+-]+){2,})(?=/[\w.+-]+", line)')
_GPU = re.compile(r"\bcuda:(\d)\b")
_DEVICE = r"(?:cpu|(?:cuda|xpu|npu|mps|hpu)(?::\d+)?|meta|privateuseone(?::\d+)?)"
_WORDINGS = (
    re.compile(
        rf"but found at least two devices, (?P<a>{_DEVICE}) and (?P<b>{_DEVICE})! ?"
        r"\(when checking argument for argument (?P<arg>\w+) in method (?P<method>[\w:]+)\)"
    ),
    re.compile(
        rf"but got (?P<arg>\w+) is on (?P<b>{_DEVICE}), different from other tensors on (?P<a>{_DEVICE})"
        r" \(when checking argument in method (?P<method>[\w:]+)\)"
    ),
    re.compile(rf"but found at least two devices, (?P<a>{_DEVICE}) and (?P<b>{_DEVICE})!"),
)
_PRINTED = (
    "but found at least two devices, {a} and {b}! (when checking argument for argument {arg} in method {method})",
    "but got {arg} is on {b}, different from other tensors on {a} (when checking argument in method {method})",
    "but found at least two devices, {b} and {a}! (when checking arugment for argument {arg} in method {method})",
    "but found at least two devices, {a} and {b}!",
)


def other_lines(text: str) -> str:
    """The program, and each library, has grown above the failing lines."""
    return _LINE.sub(lambda found: f"{found[1]}{int(found[2]) + 17}", text)


def other_folders(text: str) -> str:
    """Another machine: another home, another environment, another Python."""
    moved = _SITE.sub("/srv/venvs/job-7/lib/python3.11/site-packages/", text)
    return _OWN.sub(
        lambda found: found[0] if "site-packages" in found[2] or "/lib/python" in found[2]
        else f"{found[1]}/mnt/nfs/users/bo/checkouts/run-42",
        moved,
    )  # fmt: skip


def other_torch(text: str) -> str:
    """An older torch calls modules through one frame, a newer one through two."""
    lines = text.splitlines(keepends=True)
    kept: list[str] = []
    skip = False
    for line in lines:
        if re.match(
            r'\s*File ".*torch/nn/modules/module\.py", line \d+, in _wrapped_call_impl', line
        ):
            skip = True
        elif re.match(r"\s*File |\w", line) or not line.strip():
            skip = False
        if not skip:
            kept.append(line)
    return "".join(kept)


def other_rank(text: str) -> str:
    """Another rank of the same job, whose launcher marks each line, and other GPUs."""
    swapped = _GPU.sub(lambda found: f"cuda:{int(found[1]) + 2}", text)
    return "".join(f"[rank3]: {line}" for line in swapped.splitlines(keepends=True))


def with_times(text: str) -> str:
    """A logger's clock before each line."""
    return "".join(
        f"2026-03-04 11:22:{number % 60:02},123 {line}"
        for number, line in enumerate(text.splitlines(keepends=True))
    )


def in_a_log(text: str) -> str:
    """Amid the log of a job."""
    above = "".join(f"step {n} loss {1 / (n + 1):.4f} lr 1e-05\n" for n in range(40))
    return f"{above}{text.rstrip()}\nsrun: error: node7: task 0: Exited with exit code 1\n"


def without_carets(text: str) -> str:
    """Python before 3.11 prints none."""
    return "".join(line for line in text.splitlines(keepends=True) if not re.fullmatch(r"[\s^~]*[\^~][\s^~]*", line))  # fmt: skip


def wordings(text: str) -> Iterator[str]:
    """As other releases of torch say it."""
    for pattern in _WORDINGS:
        if found := pattern.search(text):
            values = {"arg": "", "method": "", **found.groupdict()}
            for printed in _PRINTED:
                if values["method"] or "{method}" not in printed:
                    yield text[: found.start()] + printed.format(**values) + text[found.end() :]
            return


VARIANTS: Mapping[str, Callable[[str], str]] = {
    one.__name__: one
    for one in (other_lines, other_folders, other_torch, other_rank, with_times, in_a_log, without_carets)
}  # fmt: skip


def variants(text: str) -> Iterator[tuple[str, str]]:
    """Each with the name of what made it, and two with several at once."""
    for name, make in VARIANTS.items():
        yield name, make(text)
    for number, said in enumerate(wordings(text)):
        yield f"wording-{number}", said
        yield f"wording-{number}-moved", other_rank(other_folders(other_lines(said)))
    yield "all", in_a_log(other_rank(other_torch(other_folders(other_lines(without_carets(text))))))
