"""What the case base holds beside its incidents: wordings, facts, causes, questions."""

# Annotations are evaluated here: of strings `NamedTuple` would compile each, at every start.
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from diagnose.model.vocabulary import TorchNames, Words
from diagnose.naming.descriptions import Descriptions

#: Whose line a cause makes one edit: the user's own; the failing one, unless it is in an installed
#: package; the failing one wherever it is.
Edits = Literal["own", "checkout", "library"]
Safety = Literal["safe", "unsafe", "shown"]
Lang = Literal["en", "zh"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Wording(NamedTuple):
    """One wording of a device error (kb/messages.toml).

    ``pattern`` is a regular expression for the ``regex`` module whose named groups carry roles;
    ``literals``: at least one of them stands in every text that the pattern can match (a cheap test
    before the pattern is compiled); ``demands`` are groups of texts, of each of which every match, case
    folded, holds at least one (`diagnose.compiling.literals`). ``device_error`` is False for wordings that
    name devices without being a placement failure; ``quotes`` is True for those that carry the message of
    another error, which then says more. ``says`` names what it is about: facts and stages ask for that, no
    one reads the spelling of an id. ``remedies`` are what its known messages ask for.
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
    remedies: Sequence[str] = ()


#: The letters of those kinds of a grammar's words that the engine knows: a device by name, an operand, the
#: end of a sentence. `re` names a group by each.
DEVICE, NAME, END = "D", "N", "E"


class Form(NamedTuple):
    """A form of messages about devices (kb/grammar.toml): regular expressions over the letters of words,
    whose groups are roles; ``says`` as in `Wording`. Or of sentences (kb/notions.toml): they say a
    placement or an outcome, and count for a device failure, in log-odds."""

    id: str
    patterns: Sequence[str]
    says: Sequence[str] = ()
    counts: float = 0.0


class Grammar(NamedTuple):
    """What messages about devices (kb/grammar.toml) or people's sentences (kb/notions.toml) have in common.

    ``words`` finds the words of a text, each in a group named by the letter of its kind; one of
    ``marks`` stands in every message that a form reads.
    """

    marks: Sequence[str] = ()
    words: str = ""
    forms: Sequence[Form] = ()


class Library(NamedTuple):
    """A third-party library (kb/libraries.toml): import name, the path marks of a source checkout, and
    what pip calls it, None where that may be one of several. ``called`` is what logs call it that tell its
    version; empty where no release of it is known to have a bug. ``apis`` are names by which people mean
    it, ``models`` those of models that they run with it, with ``*`` for letters."""

    name: str
    marks: tuple[str, ...] = ()
    kind: str = ""
    distribution: str | None = None
    called: tuple[str, ...] = ()
    apis: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


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


class FixExample(NamedTuple):
    """Another example of a fix: the facts with one of which it is shown, the code before and after."""

    shown_with: tuple[str, ...]
    before: str
    after: str


class FixTemplate(NamedTuple):
    """One way to mend a cause (kb/causes): taxonomy id, a sentence, an example before and after, the
    facts with which it comes before the others, and the examples that a fact calls for."""

    kind: str
    title: str
    before: str | None = None
    after: str | None = None
    command: str | None = None
    first_with: tuple[str, ...] = ()
    examples: tuple[FixExample, ...] = ()


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

    ``sentences`` say what to look at, which command shows it and what usually fixes it; ``pattern``
    is searched in "type: message", and its named groups fill the placeholders of the same name.
    """

    id: str
    family: str
    sentences: tuple[str, ...]
    pattern: str = ""


class RedactionRule(NamedTuple):
    """How something is recognised that nobody else may read (kb/redaction.toml): a pattern of the module
    `regex` whose group ``secret`` goes and ``put`` comes; a text with none of the ``keywords``, in lower
    case, is not searched; ``entropy`` are the bits a character that a secret has at least; a rule with a
    ``setting`` counts only where that is asked for."""

    id: str
    kind: str
    pattern: str
    keywords: tuple[str, ...]
    put: str
    entropy: float = 0
    setting: str | None = None


class CheckRule(NamedTuple):
    """A root cause that `diagnose check` finds in source (kb/checks.toml), in one language.

    ``says`` is the finding's sentence, in which ``{name}`` is what the code calls the value; ``fixes`` are
    the ids of what mends it, first choice first; ``safety`` tells who may apply them, and ``because`` why
    they are not safe; ``preview`` is True of a rule that is reported only where that is asked for.
    """

    id: str
    says: str
    fixes: tuple[str, ...]
    safety: Safety
    because: str | None = None
    preview: bool = False


class AcceleratorRule(NamedTuple):
    """The rule ``accelerator`` of `diagnose check` (kb/accelerator.toml), in one language.

    ``twins`` maps a name of torch.cuda to that for any accelerator and the first torch with it; a string
    is a device behind ``keywords``, or given ``first``, of which ``lenient`` run without an accelerator.
    ``says`` is a finding's sentence, ``left`` that of one without a twin, ``because`` says why an edit is
    not safe.
    """

    twins: Mapping[str, tuple[str, str]]
    keywords: tuple[str, ...]
    first: tuple[str, ...]
    lenient: tuple[str, ...]
    title: str
    why: str
    tell: str
    says: str
    left: str
    because: Mapping[str, str]


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


#: For each cause, and for `ANY`, how likely a value of each origin is the misplaced one (kb/strays.toml).
Strays = Mapping[str, Mapping[str, float]]
#: The table of `Strays` that is of no one cause.
ANY = "any"

_NO_GRAMMAR = Grammar()
_NO_WORDS = Words()
_NO_NAMES = TorchNames()


class Knowledge:
    """What kb/ holds, compiled: all that the stages from a log to its causes ask for, in one language.

    One object is handed from stage to stage. It is the same as another only if it is that other, so that
    what a stage prepares from it (compiled patterns) can be kept beside it.
    """

    __slots__ = (
        "causes",
        "descriptions",
        "facts",
        "families",
        "grammar",
        "libraries",
        "marks",
        "notions",
        "operands",
        "strays",
        "torch",
        "wordings",
        "words",
    )

    def __init__(
        self,
        *,
        wordings: Sequence[Wording] = (),
        grammar: Grammar = _NO_GRAMMAR,
        notions: Grammar = _NO_GRAMMAR,
        libraries: Sequence[Library] = (),
        families: Sequence[FamilyRule] = (),
        marks: Marks | None = None,
        operands: Roles = _NOTHING,
        strays: Strays = _NOTHING,
        facts: Mapping[str, FactRule] = _NOTHING,
        causes: Mapping[str, Cause] = _NOTHING,
        words: Words = _NO_WORDS,
        torch: TorchNames = _NO_NAMES,
        descriptions: Callable[[], Descriptions] = Descriptions,
    ) -> None:
        self.wordings = wordings
        self.grammar = grammar
        self.notions = notions
        self.libraries = libraries
        self.families = families
        self.marks = marks
        self.operands = operands
        self.strays = strays
        self.facts = facts
        self.causes = causes
        self.words = words
        self.torch = torch
        self.descriptions = descriptions

    def replaced(self, **parts: Any) -> "Knowledge":
        """A copy with other parts under these names."""
        return Knowledge(**{name: getattr(self, name) for name in self.__slots__} | parts)
