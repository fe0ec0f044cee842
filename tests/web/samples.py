"""Hand-built answers and hostile texts for the tests of the web door."""

from __future__ import annotations

from pathlib import Path

from diagnose.model import (
    Diagnosis,
    Edit,
    Evidence,
    Failure,
    Fix,
    Frame,
    IncidentMatch,
    Mismatch,
    RankedCause,
    Report,
)

TRACES = sorted((Path(__file__).parents[1] / "traces").glob("*.txt"))

#: A message alone speaks for several causes.
AMBIGUOUS = (
    "RuntimeError: Expected all tensors to be on the same device, "
    "but found at least two devices, cuda:0 and cpu!\n"
)

#: Its second cause has an evidence line of its own.
TWO_GPUS = (
    "Traceback (most recent call last):\n"
    '  File "/home/u/train.py", line 9, in <module>\n'
    "    scores = logits + table\n"
    "RuntimeError: Expected all tensors to be on the same device, "
    "but found at least two devices, cuda:1 and cuda:0!\n"
)

#: Each would run, or break out of its element, in a page that forgot to escape it.
PAYLOADS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "</textarea><script>alert(3)</script>",
    "</pre></code><svg onload=alert(4)>",
    "\"' onmouseover='alert(5)' x=\"",
    "javascript:alert(6)",
    "{{ 7 * 7 }}{% raw %}&lt;b&gt;&#x3c;",
)

HOSTILE_TRACEBACK = f"""\
rank0 {PAYLOADS[4]} {PAYLOADS[6]}
Traceback (most recent call last):
  File "/home/u/{PAYLOADS[1]}.py", line 3, in {PAYLOADS[0]}
    main()
  File "/home/u/'{PAYLOADS[0]}'.py", line 12, in forward
    x = y + "{PAYLOADS[3]}{PAYLOADS[5]}"  # {PAYLOADS[2]}
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, \
cuda:0 and cpu! {PAYLOADS[2]} {PAYLOADS[1]}
"""


def hostile_diagnosis() -> Diagnosis:
    """An answer in which every text that could come from outside is a payload."""
    everything = " ".join(PAYLOADS)
    frame = Frame(everything, 3, everything, everything, everything, at=2)
    match = IncidentMatch(everything, everything, "javascript:alert(7)", 0.5)
    cause = RankedCause(
        id="cross-shard-op",
        title=everything,
        why=everything,
        confidence=0.9,
        evidence=(Evidence(everything, 2), Evidence(everything, None)),
        incidents=(match, IncidentMatch("a", "b", 'https://example.org/"onclick="alert(8)', 0.5)),
        fixes=(
            Fix(everything, everything, edit=Edit(everything, 1, everything, f"{everything} + x")),
            Fix(everything, everything, command=everything),
            Fix(everything, everything, code=f"- {everything}\n+ {everything}\n"),
            Fix(everything, everything, code=f"def f():\n    return '{everything}'\n"),
        ),
        verification=f"# {everything}\n",
        rather=everything,
    )
    report = Report(
        everything,
        Failure(everything, everything, "device-placement", at=1),
        Mismatch((everything, "cpu"), everything, everything, "x"),
        (frame,),
        (everything,),
        ranks=(0, 1),
    )
    return Diagnosis(report, "diagnosed", frame, (cause, cause), (match,))


UNKNOWN = Diagnosis(
    Report("-", Failure("RuntimeError", "devices differ", "device-placement", at=1)),
    "unknown",
    nearest=(IncidentMatch("nobody", "A near incident", "https://example.org/1", 0.42),),
)
