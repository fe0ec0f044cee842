"""The nouns that pass from stage to stage: frozen, without behaviour beyond small derived views.

The direction is ``bytes -> Report -> facts -> Diagnosis -> text``. A stage never changes what it was
given; it makes the next object. Nothing here imports another module of the package.

Named tuples rather than data classes: making sixty of those at start took a tenth of an answer's time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

#: ``failed``: a fault of diagnose kept it from an answer.
Verdict = Literal["diagnosed", "unknown", "no-error", "failed"]
#: Whose line a cause makes one edit: the user's own; the failing one, unless it is in an installed
#: package; the failing one wherever it is.
Edits = Literal["own", "checkout", "library"]
Lang = Literal["en", "zh"]

DEVICE_FAMILY = "device-placement"

_NOTHING: Mapping[str, Any] = MappingProxyType({})


# --- what the input shows -----------------------------------------------------------------------


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
    ``wording`` the id of the entry of kb/messages.toml that recognised it, ``says`` what that is about.
    """

    devices: tuple[str, ...]
    op: str | None
    argument: str | None
    wording: str
    expected: str | None = None
    found: str | None = None
    says: tuple[str, ...] = ()


class Failure(NamedTuple):
    """One exception: type as printed, whole message, family id of the taxonomy, line of the input."""

    type: str
    message: str
    family: str | None = None
    at: int | None = None


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


class Report(NamedTuple):
    """What was read from one input: the failure to explain and what surrounds it.

    ``error`` is None where the input holds no failure. ``frames`` outermost first. ``libraries`` are
    import names of third-party packages in the frames, outermost first. ``context`` holds the lines of
    the log outside the traceback that say something about placement (warnings, launch command,
    versions). ``chain`` are the exceptions that came before or around ``error``; ``fallout`` those
    that only followed (lost connections, aborted communicators, the launcher's). ``ranks`` share the
    failure. ``tensors`` come from live hooks only; ``live`` says that the report is of an exception at
    hand, so that there is no input whose lines anybody could look up.
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
    tensors: tuple[SeenTensor, ...] = ()
    live: bool = False


# --- what the case base holds ---------------------------------------------------------------------


class Wording(NamedTuple):
    """One wording of a device error (kb/messages.toml).

    ``pattern`` is a regular expression for the ``regex`` module whose named groups carry roles;
    ``literals``: at least one of them stands in every text that the pattern can match (a cheap test
    before the pattern is compiled); ``demands`` are groups of texts, of each of which every match, case
    folded, holds at least one (`diagnose.compiling.literals`). ``device_error`` is False for wordings that
    name devices without being a placement failure; ``quotes`` is True for those that carry the message of
    another error, which then says more. ``says`` names what it is about: facts and stages ask for that, no
    one reads the spelling of an id.
    """

    id: str
    pattern: str
    literals: tuple[str, ...]
    exception: str
    component: str
    versions: str
    device_error: bool = True
    quotes: bool = False
    says: tuple[str, ...] = ()
    demands: tuple[Sequence[str], ...] = ()


class Library(NamedTuple):
    """A third-party library (kb/libraries.toml): import name, the path marks of a source checkout, and
    what pip calls it, None where that may be one of several."""

    name: str
    marks: tuple[str, ...] = ()
    kind: str = ""
    distribution: str | None = None


class Marks(NamedTuple):
    """What a large log is searched for (`diagnose.parsing.marks`): the literals of device wordings, those
    of each rule for lines, and parts that all of them hold."""

    wordings: Sequence[str] = ()
    rules: Sequence[Sequence[str]] = ()
    parts: Sequence[str] = ()


class FactRule(NamedTuple):
    """Something that a report may show (kb/facts.toml) and the sentence that says so.

    ``when`` maps a matcher (``op``, ``pair``, ``context`` ...) to a regular expression, ``says`` to what
    the message's wording is about; all must hold. ``frame`` does the same for one frame: ``which``
    chooses it, ``file``, ``function``, ``code`` and ``library`` are matched. ``all`` and ``none`` name
    facts that must hold and must not. All are empty for facts that are computed in `diagnose.facts`.
    ``literals`` holds, for some of the patterns, groups of texts: a match holds at least one of each
    (`diagnose.compiling.literals`).
    """

    id: str
    text: str
    when: Mapping[str, str] = _NOTHING
    frame: Mapping[str, str] = _NOTHING
    all: tuple[str, ...] = ()
    none: tuple[str, ...] = ()
    literals: Mapping[str, Sequence[Sequence[str]]] = _NOTHING


class FixTemplate(NamedTuple):
    """One way to mend a cause (kb/causes): taxonomy id, a sentence, an example before and after."""

    kind: str
    title: str
    before: str | None = None
    after: str | None = None
    command: str | None = None


class Cause(NamedTuple):
    """A root cause in one language. ``weights`` maps fact ids to log-odds; ``checks`` name the
    verification checks; ``example`` is a program with ``mistake(devices)`` and ``fixed(devices)``;
    ``edits`` says whose line is to be edited."""

    id: str
    title: str
    why: str
    tell: str
    fixes: tuple[FixTemplate, ...]
    prior: float
    weights: Mapping[str, float]
    example: str
    checks: tuple[str, ...]
    gpus: int
    rather: Mapping[str, str] = _NOTHING
    edits: Edits = "own"


class Source(NamedTuple):
    """Where a fact about an incident can be checked: address and what it supports."""

    url: str
    supports: str


class Recording(NamedTuple):
    """What a program's recorded traceback is recognised by; frames as ``path/file.py function``."""

    frames: tuple[str, ...]
    message: str
    libraries: tuple[str, ...]


class Incident(NamedTuple):
    """A documented incident in one language: what people saw, what it was, what mended it."""

    id: str
    title: str
    cause: str
    saw: str
    was: str
    mended: str
    url: str
    sources: tuple[Source, ...]
    libraries: tuple[str, ...]
    exception: str | None
    message: str
    devices: tuple[str, ...]
    op: str | None
    argument: str | None
    frames: tuple[str, ...]
    fixes: tuple[str, ...]
    versions: Mapping[str, str] = _NOTHING
    gpus: int = 1
    reproduce: str = ""
    recorded: Recording | None = None


class FamilyRule(NamedTuple):
    """One recogniser of a kind of failure other than device placement (kb/families.toml).

    ``pattern`` is searched in "type: message" (an empty one matches whatever ``types`` admits);
    ``literals``: at least one of them stands in every text that the pattern can match. ``types`` are the
    exception class names, without module, that the rule is for; empty for any exception, and
    ``("line",)`` for a rule about a bare log line where no exception was printed (a killed process).
    """

    id: str
    family: str
    pattern: str = ""
    literals: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


class AdviceRule(NamedTuple):
    """What to do about a failure of another family (kb/advice.toml), in one language.

    ``sentences`` say what to look at, which command shows it and what usually mends it; ``pattern``
    is searched in "type: message", and its named groups fill the placeholders of the same name.
    """

    id: str
    family: str
    sentences: tuple[str, ...]
    pattern: str = ""


class QuestionRule(NamedTuple):
    """A question that tells causes apart (kb/questions.toml), in one language.

    ``ask`` and ``code`` may hold placeholders; ``general`` is the question without them. ``all``,
    ``any`` and ``none`` name facts, as in `FactRule`. ``likelihood`` maps a cause to how likely each of
    ``answers`` is if that cause is the right one; ``others`` is the same for a cause that it lacks.

    A named tuple: most runs ask nothing, and a dataclass would cost each start most of a millisecond.
    """

    id: str
    ask: str
    general: str | None
    answers: tuple[str, ...]
    likelihood: Mapping[str, Sequence[float]]
    others: tuple[float, ...]
    code: str | None = None
    command: str | None = None
    all: tuple[str, ...] = ()
    any: tuple[str, ...] = ()
    none: tuple[str, ...] = ()


#: For each aten op the role of each of its arguments (kb/operands.toml).
Roles = Mapping[str, Mapping[str, str]]


#: Found in no text.
_NEVER = re.compile(r"(?!)")


class Words(NamedTuple):
    """What people call things, as far as the engine itself asks for it (kb/words.toml): patterns that are
    searched in a name."""

    constants: re.Pattern[str] = _NEVER
    plain_attributes: re.Pattern[str] = _NEVER
    heads: re.Pattern[str] = _NEVER
    first_layers: re.Pattern[str] = _NEVER
    second_models: re.Pattern[str] = _NEVER
    loop_names: re.Pattern[str] = _NEVER


_NO_WORDS = Words()


class Knowledge:
    """What kb/ holds, compiled: all that the stages from a log to its causes ask for, in one language.

    One object is handed from stage to stage. It is the same as another only if it is that other, so that
    what a stage prepares from it (compiled patterns) can be kept beside it.
    """

    __slots__ = (
        "causes",
        "facts",
        "families",
        "libraries",
        "marks",
        "operands",
        "wordings",
        "words",
    )

    def __init__(
        self,
        *,
        wordings: Sequence[Wording] = (),
        libraries: Sequence[Library] = (),
        families: Sequence[FamilyRule] = (),
        marks: Marks | None = None,
        operands: Roles = _NOTHING,
        facts: Mapping[str, FactRule] = _NOTHING,
        causes: Mapping[str, Cause] = _NOTHING,
        words: Words = _NO_WORDS,
    ) -> None:
        self.wordings = wordings
        self.libraries = libraries
        self.families = families
        self.marks = marks
        self.operands = operands
        self.facts = facts
        self.causes = causes
        self.words = words

    def replaced(self, **parts: Any) -> Knowledge:
        """A copy with other parts under these names."""
        return Knowledge(**{name: getattr(self, name) for name in self.__slots__} | parts)


# --- what the answer holds --------------------------------------------------------------------------


class Fact(NamedTuple):
    """Something an expert reads off a report: an id of kb/facts.toml, the values that fill its
    sentence, and the line of the input that shows it (None where no single line does)."""

    id: str
    line: int | None = None
    values: Mapping[str, str] = _NOTHING


class Evidence(NamedTuple):
    """A sentence that supports a cause and the line of the input it rests on."""

    text: str
    line: int | None


class IncidentMatch(NamedTuple):
    """A documented incident that resembles the report; similarity from 0 to 1; its cause's id."""

    id: str
    title: str
    url: str
    similarity: float
    cause: str = ""


class Edit(NamedTuple):
    """Lines of a file before and after: from ``line`` on (None where it is not known), the first without
    its indentation unless the file was read."""

    file: str
    line: int | None
    before: str
    after: str


class Fix(NamedTuple):
    """A concrete fix: taxonomy id, sentence, and an edit of the user's line, a command or code.

    ``patch`` is the edit as a unified diff, where the file itself was seen and it applies. ``example`` says
    that ``code`` is not the user's: it shows what to do, in names of its own.
    """

    kind: str
    title: str
    patch: str | None = None
    command: str | None = None
    code: str | None = None
    example: bool = False
    edit: Edit | None = None


class RankedCause(NamedTuple):
    """A cause as an answer to one report."""

    id: str
    title: str
    why: str
    confidence: float
    evidence: tuple[Evidence, ...]
    incidents: tuple[IncidentMatch, ...]
    fixes: tuple[Fix, ...]
    verification: str
    rather: str | None = None


class Reply(NamedTuple):
    """A possible answer to a question, and the ids of the causes that it would leave in front."""

    text: str
    causes: tuple[str, ...]


class Question(NamedTuple):
    """What to find out where no cause is sure, and how: Python to add or a shell command.

    ``place`` (``file.py:12``) is the line that the code goes before, where that is one of the user's.
    """

    id: str
    text: str
    replies: tuple[Reply, ...]
    code: str | None = None
    place: str | None = None
    command: str | None = None


class Missing(NamedTuple):
    """A piece that an answer lacks through a fault of diagnose: which, and where the fault lies."""

    what: str
    fault: str


class Diagnosis(NamedTuple):
    """The whole answer to one input: what a renderer needs and nothing else.

    ``incomplete`` names the pieces that a fault of diagnose has cost (`diagnose.bulkhead`). ``advice`` is
    what to do about a failure that is not about placement; code stands in backticks there. ``sources``
    are the files that were read.
    """

    report: Report
    verdict: Verdict
    culprit: Frame | None = None
    causes: tuple[RankedCause, ...] = ()
    nearest: tuple[IncidentMatch, ...] = ()
    lang: Lang = "en"
    questions: tuple[Question, ...] = ()
    incomplete: tuple[Missing, ...] = ()
    advice: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
