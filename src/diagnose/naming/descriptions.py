"""Which words people describe failures with: what each says for a cause, and for a device failure.

A cause is the mean of the texts that describe it, less what those of all causes have in common, and a text
is compared with each by its angle: Rocchio's method (Manning, Raghavan and Schütze, Introduction to
Information Retrieval, 2008, 9.1.1 and 14.2). It is counted, not trained: `counted` reads the texts of kb/
when the case base is built.
"""

# Annotations are evaluated here: of strings `NamedTuple` would compile each, at every start.
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_WORDS = re.compile(rf"[{_HAN}]+|[a-z0-9]+(?:_[a-z0-9]+)*")
_ENDINGS = ("ings", "ing", "ed", "es", "s", "e")
#: Added to every count: a word that one text used once proves little.
_SMOOTHING = 0.1
#: Counts are kept as whole numbers of this part.
_PART = 1000
#: From what a text's words say of each cause to log-odds: fitted on kb/descriptions and on the incidents'
#: texts, each fifth read by the words of the others, incidents of one repository together.
_LOG_ODDS = 85.0
#: How descriptions of other failures are called among the causes.
OTHER = ""


class Descriptions(NamedTuple):
    """What descriptions of device failures use: ``words`` gives for a word in how many texts it stands, its
    shares of the texts of device failures and of others, and then, by turns, the place of a cause in
    ``causes`` and what the word says for that; shares in thousandths, ``totals`` those of all words.
    ``texts`` is how many texts there are, and ``others`` how many of them describe no device failure."""

    causes: Sequence[str] = ()
    texts: int = 0
    others: int = 0
    totals: Sequence[int] = (0, 0)
    words: Mapping[str, Sequence[int]] = MappingProxyType({})

    def scores(self, said: Mapping[str, float]) -> dict[str, float]:
        """What a text says for each cause, in log-odds that add up to nothing.

        Args:
            said: the words (`words_of`), each with how much it counts.
        """
        found = dict.fromkeys(self.causes, 0.0)
        for word, share in self._shares(said):
            _, _, _, *pairs = self.words[word]
            for place, says in zip(pairs[::2], pairs[1::2], strict=True):
                found[self.causes[place]] += share * says / _PART
        mean = math.fsum(found.values()) / (len(found) or 1)
        return {cause: _LOG_ODDS * (value - mean) for cause, value in found.items()}

    def device_failure(self, said: Mapping[str, float]) -> float:
        """What a text says for a device failure rather than another text about GPUs, in log-odds."""
        if not 0 < self.others < self.texts:
            return 0.0
        balance = self.others / (self.texts - self.others)
        size = _SMOOTHING * len(self.words)
        all_device, all_other = (total / _PART for total in self.totals)
        odds = math.log((all_other + size) / (balance * all_device + size))
        score = 0.0
        for word, share in self._shares(said):
            _, device, other, *_ = self.words[word]
            speaks = balance * device / _PART + _SMOOTHING
            score += share * (odds + math.log(speaks / (other / _PART + _SMOOTHING)))
        return score

    def _shares(self, said: Mapping[str, float]) -> list[tuple[str, float]]:
        """The known words of a text with their share of it, the rarer the larger; the share of words that
        nobody used is lost, but for those of several words, most of which nobody used."""
        shares = {
            word: count * _rarity(self.texts, self.words[word][0] if word in self.words else 0)
            for word, count in said.items()
            if word in self.words or not _is_several(word)
        }
        length = math.hypot(*shares.values()) or 1.0
        return [(word, share / length) for word, share in shares.items() if word in self.words]


def words_of(text: str) -> frozenset[str]:
    """The words of a text, their parts and neighbours: of English stems and pairs of stems, of Chinese runs
    of two and three characters."""
    import unicodedata  # a traceback has no need of it

    found = set[str]()
    before = ""
    for run in _WORDS.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _is_han(run):
            found |= {run[at : at + 2] for at in range(len(run) - 1)}
            found |= {run[at : at + 3] for at in range(len(run) - 2)}
            before = ""
            continue
        root = stem(run)
        found.add(root)
        found.update(root.split("_"))
        if before:
            found.add(f"{before} {root}")
        before = root
    return frozenset(found)


def counted(texts: Iterable[tuple[str, str]]) -> Descriptions:
    """What texts use, of which each stands with its cause, or `OTHER`.

    Pairs of words and of three characters that only one text has are left out.
    """
    read = [(cause, words_of(text)) for cause, text in texts]
    documents = Counter(chain.from_iterable(words for _, words in read))
    rarity_of = {n: _rarity(len(read), n) for n in set(documents.values())}
    rarity = {word: rarity_of[n] for word, n in documents.items() if n > 1 or not _is_several(word)}
    shares = defaultdict[str, dict[str, int]](partial(defaultdict, int))
    for described, words in read:
        rarities = {word: rarity[word] for word in words if word in rarity}
        length = math.hypot(*rarities.values()) or 1.0
        for word, share in rarities.items():
            shares[word][described] += round(_PART * share / length)
    of_cause = Counter(described for described, _ in read)
    others = of_cause.pop(OTHER, 0)
    causes = tuple(sorted(of_cause))
    above = {word: _above_mean(its, of_cause) for word, its in shares.items()}
    says = defaultdict[str, list[float]](list)
    for more in above.values():
        for cause, value in more.items():
            says[cause].append(value)
    # For each cause, its place and what brings its words to the length 1.
    scaled = {cause: (at, math.hypot(*says[cause]) or 1.0) for at, cause in enumerate(causes)}
    found = {}
    for word, its in sorted(shares.items()):
        other = its.pop(OTHER, 0)
        row = found[word] = [documents[word], sum(its.values()), other]
        for cause, value in sorted(above[word].items()):
            at, length = scaled[cause]
            row += at, round(_PART * value / length)
    totals = [sum(row[at] for row in found.values()) for at in (1, 2)]
    return Descriptions(causes, len(read), others, totals, found)


def _above_mean(shares: Mapping[str, int], texts: Mapping[str, int]) -> dict[str, float]:
    """By how much a word's share of a text of a cause exceeds the mean of all causes, where it does."""
    means = {cause: shares[cause] / texts[cause] for cause in shares if cause != OTHER}
    mean = math.fsum(means.values()) / (len(texts) or 1)
    return {cause: value - mean for cause, value in means.items() if value > mean}


def _is_several(word: str) -> bool:
    return " " in word or (len(word) == 3 and _is_han(word))


def _is_han(word: str) -> bool:
    """Of what `_WORDS` finds; anything else begins with a letter or a digit of ASCII."""
    return word >= _HAN[0]


def _rarity(texts: int, holding: int) -> float:
    return math.log((1 + texts) / (1 + holding)) + 1


def stem(word: str) -> str:
    """The word without the ending that tells moves from moved."""
    for ending in _ENDINGS:
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
