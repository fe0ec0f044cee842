"""What an answer holds: facts with their evidence, ranked causes, fixes, questions."""

# Annotations are evaluated here: of strings `NamedTuple` would compile each, at every start.
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from diagnose.model.knowledge import Lang
from diagnose.model.memory import Seen
from diagnose.model.report import Frame, Line, Report

#: ``failed``: an internal error kept it from an answer.
Verdict = Literal["diagnosed", "unknown", "no-error", "failed"]
#: What a line to edit rests on: the traceback, or the files that it names.
Basis = Literal["trace", "source", "live"]
UnusedReason = Literal["changed", "moved", "ambiguous", "absent", "large", "unreadable", "crowded"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


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
    """A documented incident that resembles the report; similarity from 0 to 1; its cause's id.

    ``by`` what it does: by what failed and where, or by the words in which somebody describes it.
    """

    id: str
    title: str
    url: str
    similarity: float
    cause: str = ""
    by: Literal["failure", "words"] = "failure"


class Met(NamedTuple):
    """An operand of the failing line, as the line writes it, and the device that it was on."""

    text: str
    device: str


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
    that ``code`` is not the user's: it shows what to do, in names of its own. ``stopgap`` says that the
    edit moves a value where it is used, or layers that nothing registers, and leaves the cause as it is.
    """

    kind: str
    title: str
    patch: str | None = None
    command: str | None = None
    code: str | None = None
    example: bool = False
    edit: Edit | None = None
    stopgap: bool = False


class KnownBug(NamedTuple):
    """A documented bug of a library that the report may show; ``version`` is the one at hand, which has it,
    or None where it is not known. The rest is as in `diagnose.model.Release`."""

    library: str
    version: str | None
    bad: str
    fixed: str | None
    change: str | None
    incident: str


class RankedCause(NamedTuple):
    """A cause as an answer to one report; ``gpus`` are those that it takes to show. Where it is not
    ``decided``, nothing at hand tells it from the next one but how often each is seen."""

    id: str
    title: str
    why: str
    confidence: float
    evidence: tuple[Evidence, ...]
    incidents: tuple[IncidentMatch, ...]
    fixes: tuple[Fix, ...]
    verification: str
    rather: str | None = None
    gpus: int = 1
    bugs: tuple[KnownBug, ...] = ()
    decided: bool = True


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
    """A piece that an answer lacks through an internal error: which, and where the fault lies."""

    what: str
    fault: str


class UnusedSource(NamedTuple):
    """A file that was looked for or at and not used, and why.

    ``changed``: ``line`` reads otherwise than the traceback prints it; ``moved``: it prints none, and the
    line is not of the function that it names; ``ambiguous``: the files ``others`` fit equally well;
    ``absent``: it is in no folder that was to be looked in; ``large``, ``unreadable``; ``crowded``: a
    folder with more files than are looked at.
    """

    file: str
    reason: UnusedReason
    line: int | None = None
    others: tuple[str, ...] = ()


class Diagnosis(NamedTuple):
    """The whole answer to one input: what a renderer needs and nothing else.

    ``incomplete`` names the pieces that an internal error has cost (`diagnose.bulkhead`). ``advice`` is
    what to do about a failure that is not about placement; code stands in backticks there. ``sources``
    are the files that were read, ``unused`` those that were not used; ``around`` the lines of the file
    around the line to edit, where it was read. ``basis`` is what the line to edit rests on. ``site`` is the
    line that failed, ``met`` its operands whose devices are known; ``seen`` is what a store remembers.
    ``remedy`` is what the message asks for, where kb/ knows that its kind does.
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
    unused: tuple[UnusedSource, ...] = ()
    around: tuple[Line, ...] = ()
    basis: Basis = "trace"
    site: Frame | None = None
    met: tuple[Met, ...] = ()
    seen: Seen | None = None
    remedy: str = ""
