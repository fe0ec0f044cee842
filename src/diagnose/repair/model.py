"""The nouns of a repair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

#: How much is known of a patch: ``proven``: no guard objects; ``passes``: none but those of what a person
#: has to decide; ``same-numbers``: it computes what the program was meant to, and another guard objects;
#: ``runs``: it runs to its end, and nothing more is known.
Level = Literal["proven", "passes", "same-numbers", "runs"]
LEVELS: tuple[Level, ...] = ("runs", "same-numbers", "passes", "proven")

#: ``repaired``; ``nothing-to-fix``: the program runs as it is; ``not-reproducible``: it fails here of
#: something that is no device placement, or does not end; ``not-repaired``: no edit helps.
Outcome = Literal["repaired", "nothing-to-fix", "not-reproducible", "not-repaired"]


#: How torch begins to refuse a checkpoint of a GPU that is not there.
ABSENT_SAVED = "Attempting to deserialize object on"
#: What torch says of a GPU that is not there.
ABSENT_GPU = "invalid device ordinal"
#: What it says where such a GPU is one of a list that a wrapper is given.
ABSENT_LISTED = "Invalid device id"
#: Who proposes an edit, in the order in which they are asked: the ``answer`` to the failure, the ``values``
#: in the failing call, the ``origins`` of its operands.
Source = Literal["answer", "values", "origins"]
SOURCES: tuple[Source, ...] = ("answer", "values", "origins")


class Limits(NamedTuple):
    """How much is tried: edits in all, edits on top of each other, seconds."""

    tries: int = 60
    depth: int = 8
    seconds: float = 1800


class Program(NamedTuple):
    """What the user runs: a script and its arguments, in a folder of files.

    ``origin`` is the folder with the user's files, ``folder`` where in it the program starts, ``script``
    its path from there (or a module's name, where ``module``), ``processes`` how many a launcher starts.
    """

    origin: Path
    folder: Path
    script: str
    args: tuple[str, ...] = ()
    module: bool = False
    processes: int = 1


class Terms(NamedTuple):
    """How a program is run: on how many GPUs, with or without device checks.

    ``watched``: the functions that run are noted, and each call of a model is made a second time, if not
    ``once``;
    ``current``: the GPU that is current when it begins, from which those of its arguments are counted;
    ``claimed``: the program's own lines are told that what is on the cpu is on a GPU; ``drawn``: what is
    made on the meta device is made on the cpu, with the values that it begins with; ``wrapped``: a GPU
    that is not there is another.
    """

    gpus: int
    checked: bool = True
    watched: bool = False
    once: bool = False
    current: int = 0
    claimed: bool = False
    drawn: bool = False
    wrapped: bool = False


class Candidate(NamedTuple):
    """An edit that an answer proposes: of which cause and fix, and the fact that speaks for it.

    ``file`` is a path in the program's folder, ``patch`` a diff of that file alone, ``stopgap`` says that
    another fix of this cause mends it where it comes from; ``source`` who proposes it; ``agrees`` whether
    the likeliest cause of the failure's answer would edit the same place
    (`synthesis.agreement`).
    """

    cause: str
    because: str
    kind: str
    title: str
    file: str
    line: int
    patch: str
    stopgap: bool = False
    source: Source = "answer"
    agrees: bool = True


class Failure(NamedTuple):
    """How a run ended badly: the exception, where in the user's code, and whether it is of placement.

    ``key`` is what two failures of the same kind in the same place share, whatever line that has become
    and whatever was moved in it; ``alone`` says that all was on the cpu, and a GPU is asked for; ``above``
    is the folder above the user's in which lies what was not found.
    """

    error: str
    place: str
    key: str
    placement: bool
    alone: bool = False
    above: str = ""


class Silent(NamedTuple):
    """Something misplaced that raised nothing: what an audit finds (`diagnose.tracing.auditing`) and the
    line it comes from; or a check of the verification program, which ``said`` what it found."""

    kind: str
    names: tuple[str, ...]
    file: str = ""
    line: int = 0
    said: str = ""


class Ran(NamedTuple):
    """What a run gave.

    ``status`` is the exit status (124: it took too long); ``output`` and ``errors`` are the beginning and
    the end of what it printed, ``printed`` counts the bytes on standard output; ``failed_at`` is when, in
    seconds of the clock; ``cut`` says that its process ended before it could tell anything (`os._exit`);
    ``missing`` what a fault of ours kept from proposing edits; ``calls`` counts
    operators by device type, ``within`` those that run in calls of modules; ``again`` names the models
    whose second call fails; ``to_host`` are the lines that copy tensors from a GPU to the host, as
    ``file:line``, ``across`` those that copy from one GPU to another, ``repeated`` those that copy one
    tensor in each call of a model, ``handed`` those that copy a part of what a model was given, with their
    functions, ``strays`` those of them that one caller alone makes copy
    (`observers.callers.Callers`);
    ``trained`` tells of each parameter that an optimizer steps its shape,
    device and sum; ``graded`` counts the parameters that got gradients;
    ``homes``, ``idle``, ``parked``, ``streamed``, ``hollow``, ``saved``, ``hidden`` and ``used`` what is
    seen of models (`observers.module_devices.Models`), ``commuting`` and ``beside`` how they come and go
    (`observers.module_devices.Residence`),
    ``leaving``, ``weights`` and ``after`` what is carried between GPUs (`observers.transfers.Leaving`),
    ``shared`` the lines that copy what replicas share and no module holds;
    ``blank`` says that a layer computed with weights from
    the meta device to which nobody had written, ``drawn`` that those were made on the cpu therefore,
    ``unfilled`` names parameters that a checkpoint lacked, and to which nobody wrote; ``silent`` what an
    audit and `diagnose run --verify` find;
    ``executed`` the functions that ran, as ``file:line``.
    """

    status: int
    seconds: float = 0.0
    output: str = ""
    errors: str = ""
    printed: int = 0
    failed_at: float | None = None
    cut: bool = False
    failure: Failure | None = None
    candidates: tuple[Candidate, ...] = ()
    missing: tuple[str, ...] = ()
    answer: Mapping[str, Any] | None = None
    calls: Mapping[str, int] = {}
    within: Mapping[str, int] = {}
    again: frozenset[str] = frozenset()
    to_host: frozenset[str] = frozenset()
    across: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset()
    handed: Mapping[str, str] = {}
    strays: Mapping[str, Sequence[str]] = {}
    trained: tuple[tuple[str, str, float], ...] = ()
    graded: int = 0
    homes: Mapping[str, str] = {}
    idle: frozenset[str] = frozenset()
    parked: frozenset[str] = frozenset()
    streamed: frozenset[str] = frozenset()
    hollow: frozenset[str] = frozenset()
    saved: frozenset[str] = frozenset()
    hidden: Mapping[str, str] = {}
    used: frozenset[str] = frozenset()
    unfilled: frozenset[str] = frozenset()
    commuting: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    weights: frozenset[str] = frozenset()
    leaving: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    silent: tuple[Silent, ...] = ()
    blank: bool = False
    drawn: bool = False
    executed: frozenset[str] = frozenset()

    @property
    def passed(self) -> bool:
        """Whether it ran to its end."""
        return self.status == 0 and self.failure is None


#: So many operators fewer may have run where the same line fails otherwise: what an edit makes elsewhere
#: may take fewer.
_FEWER = 2


class Wanted(NamedTuple):
    """What is wanted of a run that fails: edits, where ``proposing`` and it came further than ``past``."""

    proposing: bool
    past: Ran | None = None

    def of(self, failure: Failure, calls: Mapping[str, int]) -> bool:
        """Whether edits are wanted of a failure after so many calls of operators."""
        return self.proposing and (self.past is None or further(self.past, failure, calls))


def further(before: Ran, failure: Failure, calls: Mapping[str, int]) -> bool:
    """Whether a run failed of placement again, and later than the one before; where all was on the cpu,
    what is brought to a GPU meets the rest earlier, after no less has run there."""
    if before.failure is None or not failure.placement or failure.key == before.failure.key:
        return False
    no_less_there = calls.get("cuda", 0) >= before.calls.get("cuda", 0)
    if before.failure.alone and not failure.alone and no_less_there:
        return True
    fewer = _FEWER if failure.place == before.failure.place else 0
    return sum(calls.values()) + fewer >= sum(before.calls.values())


class Sentence(NamedTuple):
    """What is said of a repair: an id of kb/repairs.toml, and what that is about, other sentences among
    it."""

    id: str
    values: Mapping[str, object] = {}


def said(name: str, /, **values: object) -> Sentence:
    """A sentence about some values."""
    return Sentence(name, values)


class Guard(NamedTuple):
    """Something that was looked at before a patch is called proven: ``holds`` is None where it could not
    be looked at."""

    id: str
    holds: bool | None
    sentence: Sentence


def objection(guard: str, name: str, /, **values: object) -> Guard:
    """A guard that speaks against a patch, in a sentence about some values."""
    return Guard(guard, False, Sentence(name, values))


class Proof(NamedTuple):
    """What is known of a patch that runs, and what was not exercised: functions of the edited files that
    never ran; ``whole`` where it was looked at from all sides."""

    level: Level
    guards: tuple[Guard, ...]
    unexercised: tuple[str, ...] = ()
    whole: bool = True


class Repair(NamedTuple):
    """The end of an attempt.

    ``applied`` are the edits that were kept, in their order; ``diff`` all of them as one diff from the
    folder of the user's files; ``texts`` the edited files; ``left`` what still fails where it is not
    repaired; ``answer`` the JSON answer to the first failure; ``tries`` how many programs were run;
    ``missing`` what a fault of ours kept from being proven, or made better; ``unfit`` are files of
    carriage returns alone, whose lines no diff takes.
    """

    outcome: Outcome
    first: Ran
    applied: tuple[Candidate, ...] = ()
    diff: str = ""
    texts: Mapping[str, str] = {}
    proof: Proof | None = None
    left: Ran | None = None
    tries: int = 1
    seconds: float = 0.0
    missing: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()
