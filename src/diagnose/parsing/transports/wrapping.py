"""Lines that were broken by a narrow terminal, and tracebacks whose line feeds were lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from diagnose.parsing.lines import LONGEST, Peeled
from diagnose.parsing.transports import prefixes
from diagnose.parsing.transports.layer import Layer
from diagnose.patterns import lazy

_BROKEN = lazy(r'^\s*File "[^"]*$|^\s*File "[^"]+",?(?: l(?:i(?:n(?:e(?: \d*)?)?)?)?)?$')
_FLAT = lazy(r'\s+(?=File "[^"\n]{1,400}", line \d+)')
_BESIDE = lazy(
    r"(Traceback \(most recent call last\):) (?=(?:Cell In|Input In|File) ?\S)"
)  # IPython
_IN = lazy(r'(File "[^"\n]+", line \d+(?:, in (?:<\w+>|[\w.]+))?)\s+(?=\S)')
_END = lazy(r"\s+(?=(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): )")
_RAISED = lazy(r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): ")
_NARROWEST = 30
_WIDEST_MAIL = 76
_OCTET = lazy("=(?:3D|20|[C-F][0-9A-F]=)")
_FEWEST_PREFIXED = 4
_TASK = lazy(r"^ *\d+: ")  # srun's
_BREAKABLE = lazy(r'File "|Error: ')
_FOLDED = lazy(r'^\s*File(?: "[^"]*"?,?)?(?: line)?(?: \d+,?)?(?: in)?\s*$')
_WHOLE = lazy(r'^\s*File "[^"]+", line \d+, in \S+\s*$')
_MOST_FOLDS = 8
_DIGIT = lazy(r"\d")


def unwrap(lines: Sequence[Peeled]) -> Iterator[Peeled]:
    """Lines put together where a terminal broke them, and apart where a form field joined them."""
    width = _terminal_width(lines)
    lines = list(_unfold(lines))
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if width:
            while len(line.text) % width == 0 and line.text and index < len(lines):
                if len(lines[index].text) > width or not _goes_on(line.text, lines[index].text):
                    break
                full = len(lines[index].text) == width
                line = line._replace(text=line.text + lines[index].text)
                index += 1
                if not full:
                    break
        yield from _apart(line)


def _goes_on(text: str, below: str) -> bool:
    """False where the line below a full one is no rest of it: the source of a whole frame, an exception."""
    if not below or _RAISED.match(below):
        return False
    return not (below.startswith("    ") and _WHOLE.match(text))


def unquoted_printable(lines: Sequence[Peeled]) -> Sequence[Peeled]:
    """The lines of a mail that was sent as quoted-printable, whose long lines end in an equals sign."""
    soft = sum(line.text.endswith("=") and len(line.text) <= _WIDEST_MAIL for line in lines)
    if soft < 2 or not any(_OCTET.search(line.text) for line in lines):
        return lines
    import quopri

    whole: list[Peeled] = []
    for line in lines:
        if whole and whole[-1].text.endswith("=") and len(whole[-1].text) < LONGEST:
            whole[-1] = whole[-1]._replace(text=whole[-1].text[:-1] + line.text)
        else:
            whole.append(line)
    return [
        line._replace(text=quopri.decodestring(line.text.encode()).decode(errors="replace"))
        for line in whole
    ]


def rejoin(lines: Sequence[Peeled]) -> Sequence[Peeled]:
    """Lines with a prefix, put together where a terminal broke them: the rest has no prefix."""
    widest = max((len(line.text) for line in lines), default=0)
    if widest < _NARROWEST:
        return lines
    full = {index for index, line in enumerate(lines[:-1], 1) if len(line.text) >= widest - 1}
    if not any(_BREAKABLE.search(lines[index - 1].text) for index in full):
        return lines
    others = [line.text for index, line in enumerate(lines) if index not in full and line.text]
    is_prefixed = next(
        (
            test
            for test in (_has_prefix, _has_task)
            if sum(map(test, others)) >= max(_FEWEST_PREFIXED, 0.9 * len(others))
        ),
        None,
    )
    if is_prefixed is None:
        return lines
    joined: list[Peeled] = []
    for index, line in enumerate(lines):
        before = joined[-1] if joined and index in full and line.text else None
        if before and len(before.text) < LONGEST and not is_prefixed(line.text):
            blank = " " if len(lines[index - 1].text) < widest else ""  # lost at the break
            joined[-1] = before._replace(text=f"{before.text}{blank}{line.text}")
        else:
            joined.append(line)
    return joined


def _has_prefix(text: str) -> bool:
    return prefixes.peel_known(text)[0] is not text


def _has_task(text: str) -> bool:
    return _TASK.match(text) is not None


def _unfold(lines: Sequence[Peeled]) -> Iterator[Peeled]:
    """Lines with the frames put together that a column or a mail folded at blanks: their rest stands
    farther to the left than they began."""
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if "File" in line.text and _FOLDED.match(line.text):
            whole, after = _rest_of_fold(lines, index, line)
            if _WHOLE.match(whole):
                line, index = line._replace(text=whole), after
        yield line


def _rest_of_fold(lines: Sequence[Peeled], index: int, line: Peeled) -> tuple[str, int]:
    whole = line.text.rstrip()
    begun = len(whole) - len(whole.lstrip())
    for after in range(index, min(len(lines), index + _MOST_FOLDS)):
        text = lines[after].text.strip()
        if not text or len(lines[after].text) - len(lines[after].text.lstrip()) > begun:
            return whole, after
        within = whole.count('"') == 1  # the path itself was folded
        whole = whole + text if within else f"{whole} {text}"
        if _WHOLE.match(whole):
            return whole, after + 1
        if _FOLDED.match(whole) is None:
            break
    return whole, index


def _terminal_width(lines: Sequence[Peeled]) -> int:
    """The width at which frames are broken, 0 where they are whole."""
    broken = any(_BROKEN.match(line.text) for line in lines)
    said = max((len(line.text) for line in lines if _RAISED.match(line.text)), default=0)
    if not broken and said < _NARROWEST:
        return 0
    # A message is often said twice, and by each rank with its own device.
    texts = {_DIGIT.sub("0", line.text) for line in lines}
    widths = Counter(map(len, texts))
    longest = max(widths)
    if not broken and said < longest:
        return 0
    return longest if widths[longest] >= 2 and longest >= _NARROWEST else 0


def _apart(line: Peeled) -> Iterator[Peeled]:
    """A traceback on one line, cut before its frames, after their names and before the exception."""
    text = line.text
    if text.count("<FrameSummary ") > 1:
        for piece in text.replace(">, <FrameSummary ", ">\n<FrameSummary ").split("\n"):
            yield line._replace(text=piece)
        return
    if "Traceback (most recent" in text and (beside := _BESIDE.match(text)):
        yield line._replace(text=beside[1])
        line = line._replace(text=text[beside.end() :])
        text = line.text
    if text.count('File "') < 2 and not ("Traceback (most recent" in text and 'File "' in text):
        yield line
        return
    pieces = _FLAT.sub("\n  ", text)
    pieces = _IN.sub(r"\1\n    ", pieces)
    pieces = _END.sub("\n", pieces)
    for piece in pieces.split("\n"):
        yield line._replace(text=piece)


LAYERS = (
    Layer(
        "wrapping",
        unquoted_printable,
        "input",
        50,
        "a mail's soft line ends hide how wide the lines were",
    ),
    Layer(
        "wrapping",
        rejoin,
        "input",
        60,
        "a prefixed line is put together before its prefix goes: its rest has none",
    ),
    Layer(
        "wrapping",
        unwrap,
        "process",
        70,
        "the width of a terminal shows only in lines as the program printed them",
    ),
)
