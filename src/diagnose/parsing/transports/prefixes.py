"""What launchers, schedulers and log collectors write before each line, and the rank it tells.

Two ways: prefixes that everybody prints alike are known by their shape; any other is learned from the
lines on which a traceback's own words show where it ends.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from diagnose.parsing.lines import Peeled
from diagnose.parsing.transports.layer import Carried, LineLayer
from diagnose.patterns import lazy

_TIME = (
    r"(?:\d{4}[-/.]\d\d[-/.]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)?"
    r"|\d\d/\d\d/\d{2,4} \d\d:\d\d:\d\d|\d\d:\d\d:\d\d(?:[.,]\d{1,6})?)"
)
#: Shapes that no source line or message begins with; `channel` names the process, `rank` its rank.
_KNOWN = tuple(
    lazy(pattern)
    for pattern in (
        r"\[?(?P<channel>rank ?:? ?(?P<rank>\d+))\]?: ?",  # torch, torchrun
        r"\[(?P<channel>default(?P<rank>\d+))\]: ?",  # torchrun --tee
        r"\[(?P<channel>(?:RANK|Rank|local_rank|worker)[ :=_-]*(?P<rank>\d+))\]:? ?",
        r"\[(?:[\w.-]+@)?(?:\d+|[\w-]+),(?P<channel>(?P<rank>\d+)(?:,[\w-]+)?)\]<std(?:err|out)>:? ?",
        r"\[(?P<channel>\d+,mpirank:(?P<rank>\d+),[\w-]+)\]<std(?:err|out)>:? ?",
        r"\[(?P<channel>(?P<rank>\d+))\]<std(?:err|out)>:? ?",  # horovodrun with gloo
        r"\((?P<channel>[\w.:<>-]*(?: ?rank=(?P<rank>\d+))? ?pid=\d+(?:, ip=[\w.:-]+)?)\) ",  # ray, vLLM
        rf"{_TIME} std(?:err|out) [FP] ",  # container runtime
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(?:\d{7}|\d{9})Z ",  # GitHub Actions, docker logs -t
        r"[^\t]{1,80}\t[^\t]{1,80}\t\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z ",  # gh run view --log
        rf"{_TIME}\|(?=\s)",
        r"(?P<channel>(?=[\d.-]*[A-Za-z_])[\w.-]{1,60})\s+\| (?=\S|  |$)",  # docker compose
        r"\[(?P<channel>pod/[\w./-]+)\] ",  # kubectl logs --prefix
        r"(?P<channel>[\w.-]{1,60}): (?=\[rank\d+\]:)",  # pdsh in front of torchrun
        rf"(?:{_TIME}) (?!(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL) )(?P<channel>[\w.-]+) "
        r"(?![\w.]*(?:Error|Exception|Interrupt|Exit):)[\w./-]+(?:\[\d+\])?: ",  # syslog, journald
    )
)
_MARK = lazy(
    r'Traceback \(most recent call last\)|(?:  |\t|(?<=[:|\])] ))File "[^"\n]{1,400}", line \d'
    r'|(?:(?<=\S )|(?<=[\]:|>"\x27]))(?=File "[^"\n]{1,400}", line \d)'  # stackprinter's
    r"|(?<![A-Za-z])E {3,60}(?=[\w.]+(?:Error|Exception)\b)"  # pytest's
)
#: The other columns of `aws logs --output text`: identifier, two times, stream.
_EVENT = lazy(r"^EVENTS\t(?:\d{40,}\t)?\d{13}\t(?P<said>.*)\t\d{13}$")
#: What a box or IPython writes between the prefix and the word Traceback.
_FRAME_OF_HEADER = lazy(r"(?:[╭┌+] ?(?:[─-]|Exception Group).*|(?:[A-Za-z_][\w.]*)?\s{2,})$")
_NO_PREFIX = lazy(r"[\"']|\bFile\b|^\s*`+\s*$")
_LISTED = lazy(r"│ *(?:❱ *)?\d+ (?:│|$)")  # a source line in a box that quotes a frame
_BOX_SIDES = " \t│┃║"  # a box within a box
_TREE = lazy(r"(?:(?:^| ) *[|+])+[ +]*$")
_DIGITS = lazy(r" *\d+")
_NUMERAL = lazy(r"\d+")
_STAMP = lazy(rf"{_TIME}|\b\d{{10,19}}\b|(?<![\d.])\d+\.\d+(?!\.?\d)")
#: A rank, a host or a process before each line; a level names none.
_WORD = lazy(
    r"(?!(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)\b)"
    r"(?:\[[^\]\s]{1,60}\]|\{[^}\s]{1,60}\}|[\w.@/-]{1,60})[:>|]*(?<=[\]}:>|])(?:[ \t](?=\S| {2}|$)|$)"
)
_FEWEST_SHARED, _MOST_SHARED = 8, 4000
_FARTHEST_MARK = 700
_MOST_PREFIXES = 64
_MOST_CHANNELS = 4096


def peel_known(text: str) -> tuple[str, str | None]:
    """The line without the prefixes known by shape, and the channel they name (None where none does).

    A blank that belongs to the prefix goes with it; the indentation after it stays.
    """
    channel: str | None = None
    if text[:7] == "EVENTS\t" and (event := _EVENT.match(text)):
        text = event["said"]
    for _ in range(4):
        for pattern in _KNOWN:
            if match := pattern.match(text):
                break
        else:
            break
        named = match.groupdict()
        if named.get("rank"):
            channel = f"rank{named['rank']}"
        elif named.get("channel") and not (channel or "").startswith("rank"):
            channel = named["channel"]
        text = text[match.end() :]
    return text, channel


def rank_of(channel: str | None) -> int | None:
    """The rank that a channel stands for, where it does."""
    if channel and channel.startswith("rank") and channel[4:].isdigit():
        return int(channel[4:])
    return None


def peel_learned(lines: Sequence[Peeled], *, quoted: bool = False) -> Iterator[Peeled]:
    """Lines without the prefixes that stand before the frames of this very input. ``quoted``: they may end
    with a quote."""
    templates = _learn(lines, quoted=quoted)
    if not templates:
        yield from lines
        return
    channels: dict[tuple[int, str], str] = {}
    counting = _counters(lines, templates)
    for line in lines:
        for index, template in enumerate(templates):
            if match := template.match(line.text):
                prefix = match.group()
                channel = line.channel
                if channel is None and len(channels) < _MOST_CHANNELS:
                    key = _named(prefix, counting[index])
                    before = ".*:" if counting[index] else ""  # grep's file and line
                    rank = re.fullmatch(rf"{before}(\d+):|{before}\[(\d+)\]:?", key)
                    name = f"rank{rank[1] or rank[2]}" if rank else key
                    channel = channels.setdefault((index, key), name) or None if key else None
                line = Peeled(line.number, line.text[match.end() :], channel)
                break
        yield line


def _learn(lines: Sequence[Peeled], *, quoted: bool) -> list[re.Pattern[str]]:
    """Templates of the prefixes before frames and headers: digits stand for any digits, all else for
    itself. The prefix of a header, or of pytest's error, counts where its neighbours have it too."""
    seen: Counter[str] = Counter()
    grouped = any("Exception Group Traceback" in line.text for line in lines)
    for index, line in enumerate(lines):
        match = _MARK.search(line.text, 0, _FARTHEST_MARK)
        if match is None or not line.text[: match.start()].strip():
            continue
        if "│" in line.text and _LISTED.search(line.text, 0, match.start()):
            continue
        framed = match.group().endswith(tuple("0123456789"))
        prefix = line.text[: match.start()]
        if not framed:
            prefix = _FRAME_OF_HEADER.sub("", prefix)
        if grouped:
            prefix = _TREE.sub("", prefix)
        prefix = prefix.rstrip(_BOX_SIDES)
        if not prefix.strip():
            continue
        template = _template(prefix)
        known = template in seen
        if known or (framed and (quoted or not _NO_PREFIX.search(prefix))):
            seen[template] += framed or not known
        elif not framed and _prevails(template, lines, index):
            seen[template] += 1
    if seen.pop(_NUMBER, 0) and _numbered(lines):
        seen[_NUMBER] = 1
    kept = sorted((t for t, _ in seen.most_common(_MOST_PREFIXES)), key=len, reverse=True)
    return [re.compile(template) for template in kept] or _shared(lines)


def _shared(lines: Sequence[Peeled]) -> list[re.Pattern[str]]:
    """The shape of the one word that stands before every line, where one does."""
    said = [line.text for line in lines[:_MOST_SHARED] if line.text.strip()]
    if len(said) < _FEWEST_SHARED or _WORD.match(said[0]) is None or _WORD.match(said[-1]) is None:
        return []
    words = [match.group() for match in map(_WORD.match, said) if match]
    if len(words) < 0.95 * len(said) or len(set(words)) > _MOST_PREFIXES:
        return []
    return [re.compile(_WORD.pattern)]


def _prevails(template: str, lines: Sequence[Peeled], index: int) -> bool:
    pattern = re.compile(template)
    for near in (lines[index + 1 : index + 9], lines[max(0, index - 8) : index]):
        said = [line for line in near if line.text.strip()]
        if len(said) > 2 and all(pattern.match(line.text) for line in said):
            return True
    return False


def _template(prefix: str) -> str:
    return (
        r" *\d+".join(re.escape(part) for part in _DIGITS.split(prefix.rstrip()))
        + r"(?:[ \t](?=\S| {2}|$)|$|)"
    )


#: A number and nothing else; the source lines around a frame have one too.
_NUMBER = _template("1")


def _numbered(lines: Sequence[Peeled]) -> bool:
    """True where the numbers before lines count them (cat -n) or name a few processes."""
    found = [int(m.group().strip()[:18]) for m in (_DIGITS.match(line.text) for line in lines) if m]
    pairs = list(itertools.pairwise(found))
    counting = sum(later == number + 1 for number, later in pairs)
    return counting > 0.9 * len(pairs) or len(set(found)) * 5 <= len(found)


def _counters(
    lines: Sequence[Peeled], templates: Sequence[re.Pattern[str]]
) -> dict[int, frozenset[int] | None]:
    """Which of a template's numbers only count lines (cat -n, grep -n), None where it names no process."""
    values: dict[int, list[set[str]]] = {index: [] for index in range(len(templates))}
    total: Counter[int] = Counter()
    for line in lines:
        for index, template in enumerate(templates):
            if match := template.match(line.text):
                total[index] += 1
                numbers = _NUMERAL.findall(_STAMP.sub("", match.group()))
                seen = values[index]
                seen += [set() for _ in numbers[len(seen) :]]
                for of, number in zip(seen, numbers, strict=False):
                    of.add(number)
                break
    return {index: _counting(seen, total[index]) for index, seen in values.items()}


def _counting(seen: Sequence[set[str]], total: int) -> frozenset[int] | None:
    """The positions of the numbers that count lines; None where no other number tells processes apart."""
    counts = frozenset(at for at, of in enumerate(seen) if len(of) > max(3, total // 2))
    others = (len(of) for at, of in enumerate(seen) if at not in counts)
    return None if counts and max(others, default=0) < 2 else counts


def _named(prefix: str, counting: frozenset[int] | None) -> str:
    """What names the process in a prefix: all but times and the numbers that count lines."""
    key = _STAMP.sub("", prefix)
    if counting is None:
        return ""
    at = itertools.count()
    return _NUMERAL.sub(lambda number: "" if next(at) in counting else number[0], key).strip()


def _peel(line: str) -> Carried | None:
    rest, channel = peel_known(line)
    return Carried((rest,), channel) if rest is not line else None


LINE_LAYERS = (
    LineLayer("prefixes", _peel, 30, "a record or an escaped traceback may stand behind one"),
)
