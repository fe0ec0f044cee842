"""Drafts the folder of a new incident from a diagnosed trace; `unfinished` finds what is still to do.

What the trace says is written down; what only a person can know is a string that begins with
``TODO:`` and says what belongs there. No text of the trace gets into the program or into a comment.
"""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from diagnose.authoring.tomltext import quoted, quoted_list
from diagnose.model import DEVICE_FAMILY, Cause, Diagnosis, Frame, KnownFix, Report
from diagnose.patterns import in_package

#: An incident's id: it names a folder, stands in addresses, and is typed by people.
SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
LONGEST_SLUG = 60
#: Longer messages list kernels, configurations or the whole command line after the sentence.
_LONGEST_MESSAGE = 1500
#: The innermost frames; a recursion has a thousand.
_MOST_FRAMES = 24

_CALL_WRAPPERS = {"_call_impl", "_wrapped_call_impl"}
_NUMBERED = re.compile(r"\w+:(\d+)")

_TITLE = "TODO: project, and what was being done when it failed (at most 100 characters)"
_SAW = "TODO: what people did and saw: program, GPUs, versions, where it stopped. Your own words."
_WAS = "TODO: why it happened; mark what you infer and nobody confirmed"
_MENDED = "TODO: what helped, and who says so; mark what is only proposed"
_CHINESE = "TODO: the same in Chinese"
_URL = "TODO: the https address of the thread, commit or release note that shows it"
_SUPPORTS = "TODO: what can be read there: the message, the cause, the fix"

_SKELETON = '''\
"""TODO: one sentence: what meets what, or what is left behind.

Needs torch and {gpus}. ``python reproduce.py failing`` ends in {end},
``python reproduce.py fixed`` prints "fixed: ok".
"""

# TODO: this is the example of {cause}; give it the names and the few lines
# of the program that failed, and let the two variants differ by the documented fix.

{program}


def main(variant):
    torch.manual_seed(0)
    devices = [torch.device("cuda", number) for number in range({number})]
    (fixed if variant == "fixed" else mistake)(devices)
    print(f"{{variant}}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
'''
_COUNTS = {1: "one GPU", 2: "two GPUs", 3: "three GPUs", 4: "four GPUs"}


@dataclass(frozen=True, slots=True)
class Draft:
    """A folder to be: the incident's id and the texts of its two files."""

    slug: str
    case: str
    program: str

    def write(self, kb: Path) -> tuple[Path, Path]:
        """Writes kb/cases/<slug>/ and returns the two files.

        Raises:
            FileExistsError: there is such a folder (or anything of that name) already.
            OSError: the folder cannot be written.
        """
        folder = kb / "cases" / self.slug
        folder.mkdir(parents=True)
        files = folder / "case.toml", folder / "reproduce.py"
        try:
            for path, text in zip(files, (self.case, self.program), strict=True):
                path.write_text(text, encoding="utf-8", newline="\n")
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return files


def draft(
    diagnosis: Diagnosis,
    cause: Cause,
    slug: str,
    *,
    guessed: bool,
    known: KnownFix | None = None,
    versions: Mapping[str, str] | None = None,
) -> Draft:
    """What a diagnosed trace says, as a new incident's folder.

    Args:
        diagnosis: of the trace; without an error it is an incident that raises none (``silent``).
        cause: the root cause to begin with.
        slug: the incident's id.
        guessed: the cause is our guess, which a person has to look at.
        known: what a store remembers of what fixed it.
        versions: of the libraries with which it failed.
    """
    gpus = _gpus(diagnosis.report, cause)
    case = _case(diagnosis, cause, slug, gpus, guessed, known, versions or {})
    return Draft(slug, case, _program(diagnosis, cause, gpus))


def proposed_slug(diagnosis: Diagnosis) -> str:
    """An id made of the place that failed: library or folder, file and function."""
    frame = diagnosis.culprit
    if frame is None:
        return "incident"
    parts = PurePosixPath(_file(frame, "").removesuffix(".py")).parts[-2:]
    words = [*parts, frame.function or ""]
    if frame.library and frame.library not in parts:
        words.insert(0, frame.library)
    slug = re.sub(r"[^a-z0-9]+", "-", "-".join(words).lower())
    return slug[:LONGEST_SLUG].strip("-") or "incident"


# --- case.toml --------------------------------------------------------------------------------------


def _case(
    diagnosis: Diagnosis,
    cause: Cause,
    slug: str,
    gpus: int,
    guessed: bool,
    known: KnownFix | None,
    versions: Mapping[str, str],
) -> str:
    report = diagnosis.report
    lines = [f"id = {quoted(slug)}", f"cause = {quoted(_cause(diagnosis, cause, guessed))}"]
    lines += _error(report)
    if report.libraries:
        lines.append(f"libraries = {quoted_list(report.libraries)}")
    else:
        lines.append('libraries = ["torch"]')
    if frames := _frames(report):
        lines.append(f"frames = {quoted_list(frames, columns=0)}")
    kinds = [fix.kind for fix in cause.fixes][:3]
    fixes = (
        f"TODO: what fixed it, as ids of fixes.toml; tried first for {cause.id}: {', '.join(kinds)}"
    )
    lines.append(f"fixes = {quoted_list([fixes])}")
    if report.error is None:
        lines.append("silent = true")
    elif report.error.family != DEVICE_FAMILY:
        lines.append(f"family = {quoted(report.error.family or 'other')}")
    lines += [f"gpus = {gpus}", 'needs = ["torch"]', ""]
    if versions:
        lines += [
            "[versions]",
            *(f"{quoted(name)} = {quoted(versions[name])}" for name in versions),
        ]
    else:
        lines += ["# [versions]", '# torch = "2.1.0"']
    mended = _MENDED if known is None else f"{known.text} ({known.by})"
    for lang, title, texts in (
        ("en", _TITLE, {"saw": _SAW, "was": _WAS, "mended": mended}),
        ("zh", _CHINESE, dict.fromkeys(("saw", "was", "mended"), _CHINESE)),
    ):
        lines += ["", f"[{lang}]", f"title = {quoted(title)}"]
        lines += [f"{key} = {quoted(text)}" for key, text in texts.items()]
    url = known.link if known is not None and known.link else _URL
    lines += ["", "[[sources]]", f"url = {quoted(url)}", f"supports = {quoted(_SUPPORTS)}"]
    return "\n".join(lines) + "\n"


def _cause(diagnosis: Diagnosis, cause: Cause, guessed: bool) -> str:
    """The cause's id, or what a person should know to decide on one."""
    if not guessed:
        return cause.id
    guesses = [f"{ranked.id} ({ranked.confidence:.0%})" for ranked in diagnosis.causes]
    return f"TODO: the cause's id alone; guessed from the trace: {', '.join(guesses)}"


def _error(report: Report) -> list[str]:
    """Exception, message, and what the message says of devices."""
    lines = []
    if report.error is not None:
        lines.append(f"exception = {quoted(report.error.type.rpartition('.')[2])}")
        if message := report.error.message.strip()[:_LONGEST_MESSAGE]:
            lines.append(f"message = {quoted(message)}")
    if report.mismatch is not None:
        if report.mismatch.devices:
            lines.append(f"devices = {quoted_list(report.mismatch.devices)}")
        for key in ("op", "argument"):
            if value := getattr(report.mismatch, key):
                lines.append(f"{key} = {quoted(value)}")
    return lines


def _gpus(report: Report, cause: Cause) -> int:
    """How many GPUs show it: what the cause's example takes, and one for each GPU of the message."""
    devices = report.mismatch.devices if report.mismatch else ()
    met = {device for device in devices if (n := _NUMBERED.fullmatch(device)) and n[1] != "0"}
    return max(cause.gpus, min(len(met) + 1, 8))


# --- frames -----------------------------------------------------------------------------------------


def _frames(report: Report) -> list[str]:
    """``transformers/trainer.py:2085 train``: what was called, without whose machine it was on."""
    root = _common_folder(report)
    frames: list[str] = []
    for frame in report.frames:
        if frame.stdlib or (frame.library == "torch" and frame.function in _CALL_WRAPPERS):
            continue
        line = f":{frame.line}" if frame.line is not None else ""
        text = f"{_file(frame, root)}{line} {frame.function or '<module>'}"
        if frames[-1:] != [text]:
            frames.append(text)
    return frames[-_MOST_FRAMES:]


def _common_folder(report: Report) -> str:
    """The folder that all files of the user's own code are in, with a slash at the end."""
    folders = [
        PurePosixPath(frame.file.replace("\\", "/")).parent.parts
        for frame in report.frames
        if frame.own and not frame.file.startswith("<")
    ]
    if not folders:
        return ""
    common = []
    for parts in zip(*folders, strict=False):
        if len(set(parts)) > 1:
            break
        common.append(parts[0])
    return f"{PurePosixPath(*common)}/".replace("//", "/") if common else ""


def _file(frame: Frame, root: str) -> str:
    """A frame's file from its package, or from the folder of the user's code."""
    path = frame.file.replace("\\", "/")
    if installed := in_package(path):
        return installed
    if frame.library and (place := path.rfind(f"/{frame.library}/")) >= 0:
        return path[place + 1 :]
    if path.startswith("<"):
        return path
    if root and path.startswith(root):
        return path[len(root) :]
    return "/".join(PurePosixPath(path).parts[-2:]).lstrip("/")


# --- reproduce.py -----------------------------------------------------------------------------------


def _program(diagnosis: Diagnosis, cause: Cause, gpus: int) -> str:
    """The cause's example as a program with two variants: it fails and passes from the first day."""
    error = diagnosis.report.error
    return _SKELETON.format(
        program=_with_sys(_without_docstring(cause.example)),
        cause=cause.id,
        gpus=_COUNTS.get(gpus, f"{gpus} GPUs"),
        number=gpus,
        end="the error" if error is None or error.family != DEVICE_FAMILY else "the device error",
    )


def _without_docstring(source: str) -> str:
    first = ast.parse(source).body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        source = "\n".join(source.splitlines()[first.end_lineno :])
    return source.strip("\n")


def _with_sys(source: str) -> str:
    """The program with ``import sys`` in its place above torch."""
    first, _, rest = source.partition("\n\n")
    if "torch" in first:
        return f"import sys\n\n{source}"
    return "\n".join(sorted([*first.splitlines(), "import sys"])) + f"\n\n{rest}"
