"""The nouns that pass from stage to stage: frozen, without behaviour beyond small derived views.

The direction is ``bytes -> Report -> facts -> Diagnosis -> text``. A stage never changes what it was
given; it makes the next object. Nothing here imports another package of diagnose.

Named tuples rather than data classes: making sixty of those at start took a tenth of an answer's time.
"""

from __future__ import annotations

from diagnose.model.answer import (
    Basis,
    Diagnosis,
    Edit,
    Evidence,
    Fact,
    Fix,
    IncidentMatch,
    Missing,
    Question,
    RankedCause,
    Reply,
    UnusedReason,
    UnusedSource,
    Verdict,
)
from diagnose.model.knowledge import (
    AdviceRule,
    Cause,
    Edits,
    FactRule,
    FamilyRule,
    FixTemplate,
    Incident,
    Knowledge,
    Lang,
    Library,
    Marks,
    QuestionRule,
    Recording,
    Roles,
    Source,
    Wording,
)
from diagnose.model.report import (
    DEVICE_FAMILY,
    Carets,
    Failure,
    Frame,
    Line,
    Mismatch,
    Report,
    SeenTensor,
    Statement,
    indentation,
)
from diagnose.model.vocabulary import TorchNames, Words

__all__ = [
    "DEVICE_FAMILY",
    "AdviceRule",
    "Basis",
    "Carets",
    "Cause",
    "Diagnosis",
    "Edit",
    "Edits",
    "Evidence",
    "Fact",
    "FactRule",
    "Failure",
    "FamilyRule",
    "Fix",
    "FixTemplate",
    "Frame",
    "Incident",
    "IncidentMatch",
    "Knowledge",
    "Lang",
    "Library",
    "Line",
    "Marks",
    "Mismatch",
    "Missing",
    "Question",
    "QuestionRule",
    "RankedCause",
    "Recording",
    "Reply",
    "Report",
    "Roles",
    "SeenTensor",
    "Source",
    "Statement",
    "TorchNames",
    "UnusedReason",
    "UnusedSource",
    "Verdict",
    "Wording",
    "Words",
    "indentation",
]
