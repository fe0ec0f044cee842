"""What an input shows: the failure, its frames, what the message says of devices."""

# Annotations are evaluated here: of strings `NamedTuple` would compile each, at every start.
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

DEVICE_FAMILY = "device-placement"


class Line(NamedTuple):
    """One line of the input: its 1-based number there and its text after the transports are peeled."""

    number: int
    text: str


class Carets(NamedTuple):
    """The part of a statement that CPython's carets underline: what the failing instruction computes.

    Lines count from 0 within the statement, columns in characters; ``end`` stands after the part.
    """

    line: int
    column: int
    end_line: int
    end: int


def indentation(line: str) -> int:
    """How many characters of white space a line begins with: columns of a file count them, those of carets
    under a stripped line do not."""
    return len(line) - len(line.lstrip())


class Statement(NamedTuple):
    """The source lines of a frame that a traceback shows, or that its file holds.

    ``text`` begins without white space and may break off before the statement ends; its further lines
    stand as in the file, or relative to the first where only a printed form was seen. ``line`` is the
    number of its first line. ``raw`` are its lines just as the file holds them, with some ``above`` and
    ``below``; empty where the file was not seen: printed forms lose the indentation.
    """

    text: str
    line: int | None = None
    carets: Carets | None = None
    raw: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()


class Frame(NamedTuple):
    """One entry of a traceback.

    ``file``, ``line`` and ``function`` stand as printed (``function`` without arguments); ``code`` is
    the source line where the traceback shows it, ``context`` the neighbouring source lines that some
    formats print (IPython, rich, pytest), as (line number, text). ``statement`` holds all lines of the
    code, with carets, where more than one line or carets were printed. ``library`` is the import name of
    the third-party package the file belongs to, None for the user's own code; ``stdlib`` marks Python's
    own library. ``at`` is the line of the input that names the frame.
    """

    file: str
    line: int | None = None
    function: str | None = None
    code: str | None = None
    library: str | None = None
    stdlib: bool = False
    at: int | None = None
    context: tuple[tuple[int, str], ...] = ()
    statement: Statement | None = None

    @property
    def own(self) -> bool:
        """True for the user's own code: neither a third-party package nor the standard library."""
        return self.library is None and not self.stdlib and not self.file.startswith("<frozen ")


class Mismatch(NamedTuple):
    """What a device message says, as printed.

    ``devices`` in the message's order; ``expected`` and ``found`` by their role in this wording (None
    where the wording does not say); ``op`` the method or aten op; ``argument`` the named argument;
    ``wording`` the id of the entry of kb/messages.toml that recognised it, ``says`` what that is about;
    ``element`` which one it is of the list that an argument is, from 0. ``formed`` where no wording knew
    the message, but a form of kb/grammar.toml, whose id ``wording`` then is, as ``grammar:ID``.
    """

    devices: tuple[str, ...]
    op: str | None
    argument: str | None
    wording: str
    expected: str | None = None
    found: str | None = None
    says: tuple[str, ...] = ()
    element: int | None = None
    formed: bool = False


class Failure(NamedTuple):
    """One exception: type as printed, whole message, family id of the taxonomy, line of the input."""

    type: str
    message: str
    family: str | None = None
    at: int | None = None

    @property
    def told(self) -> bool:
        """False where the input ends, or has a gap, before the line that names the exception."""
        return bool(self.type or self.message)


class SeenTensor(NamedTuple):
    """A live tensor that a hook saw: an expression that names it, its device, where it belongs.

    ``kind`` is ``local``, ``parameter``, ``buffer``, ``attribute``, ``unregistered`` (of a layer that a
    plain list or dict holds) or ``state`` (of an optimizer, only where it is not with its parameter).
    ``owner`` is the class of the object it belongs to, if any; ``frame`` the index of the frame (into
    Report.frames) whose locals hold it; ``root`` the variable that holds its outermost module.
    """

    name: str
    device: str
    kind: str = "local"
    owner: str | None = None
    frame: int | None = None
    shape: tuple[int, ...] = ()
    root: str | None = None


class At(NamedTuple):
    """A line of the program: file, number, function (None at a file's top) and text."""

    file: str
    line: int
    function: str | None
    code: str


class LiveOperand(NamedTuple):
    """A tensor that the failing call was given, as a recorder saw it (`diagnose.tracing`).

    ``name`` is how the failing line calls it, or what it is (``weight of model.fc``); ``kind`` one of
    `diagnose.kinds.Origin`'s values; ``expected`` the device of what it met, where it is the stray;
    ``born`` the user's line that made it, or what it was computed from, ``moved`` those that moved it
    since; ``seen`` says that ``born`` is only the line that used it first, for it is older than the
    recording or was made out of sight; ``root`` what the program keeps of it under another name, such as
    the attribute that it was computed from.
    """

    name: str
    kind: str
    device: str
    expected: str | None = None
    shape: tuple[int, ...] = ()
    born: At | None = None
    moved: tuple[At, ...] = ()
    seen: bool = False
    root: "LiveOperand | None" = None


class Role(Enum):
    """What a sentence of a description is about."""

    SYMPTOM = "symptom"
    CAUSE = "cause"
    FIX = "fix"
    ADVICE = "advice"


class Sentence(NamedTuple):
    """A sentence of a description: the number of the line that it begins in, its text without what it
    denies, and its role."""

    number: int
    text: str
    role: Role = Role.SYMPTOM


class Description(NamedTuple):
    """What a person says of a failure of which no traceback was pasted.

    ``text`` is all of it, as far as it is read; ``sentences`` are what it says, without what was only
    tried; ``words`` are theirs, each with how much it counts; ``blocks`` are what stands between fences,
    and around. ``asserts``: how much all this supports a device failure (kb/notions.toml), in log-odds.
    """

    text: str
    sentences: tuple[Sentence, ...] = ()
    words: Mapping[str, float] = MappingProxyType({})
    blocks: tuple[Line, ...] = ()
    asserts: float = 0.0

    @property
    def stated(self) -> tuple[Sentence, ...]:
        """What is said to be so: no advice."""
        return tuple(one for one in self.sentences if one.role is not Role.ADVICE)


class Report(NamedTuple):
    """What was read from one input: the failure to explain and what surrounds it.

    ``error`` is None where the input holds no failure. ``frames`` outermost first. ``libraries`` are
    import names of third-party packages in the frames, outermost first. ``context`` holds the lines of
    the log outside the traceback that say something about placement (warnings, launch command,
    versions). ``chain`` are the exceptions that came before or around ``error``; ``fallout`` those
    that only followed (lost connections, aborted communicators, the launcher's). ``ranks`` share the
    failure; ``alike`` processes do, whose ranks may not be told. ``tensors`` come from live hooks only,
    ``operands`` of the failing call from a recorder, the strays first; ``live`` says that the report is of
    an exception at hand, so that there is no input whose lines anybody could look up. ``versions`` are
    those that the log states of libraries in the frames that have documented bugs, as (import name,
    version).
    ``description`` is there where the failure is only told of.
    """

    source: str
    error: Failure | None = None
    mismatch: Mismatch | None = None
    frames: tuple[Frame, ...] = ()
    libraries: tuple[str, ...] = ()
    context: tuple[Line, ...] = ()
    chain: tuple[Failure, ...] = ()
    fallout: tuple[Failure, ...] = ()
    ranks: tuple[int, ...] = ()
    alike: int = 1
    tensors: tuple[SeenTensor, ...] = ()
    operands: tuple[LiveOperand, ...] = ()
    live: bool = False
    versions: tuple[tuple[str, str], ...] = ()
    description: Description | None = None
