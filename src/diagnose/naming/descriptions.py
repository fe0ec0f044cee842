"""Which words people describe failures with: what each says for a cause, and for a device failure.

A naive Bayes classifier of the kind that compares a class with all others (Rennie et al. 2003, complement
naive Bayes): what a word says for a cause is how seldom the descriptions of all *other* causes use it. It
is counted, not trained: `counted` reads the texts of kb/ when the case base is built.
"""

# Annotations are evaluated here: of strings `NamedTuple` would compile each, at every start.
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_WORDS = re.compile(rf"[{_HAN}]+|[a-z0-9]+(?:_[a-z0-9]+)*")
_ENDINGS = ("ings", "ing", "ed", "es", "s", "e")
#: Added to every count: a word that one text used once proves little.
_SMOOTHING = 0.3
_SMOOTHING_OF_FAILURES = 0.1
#: Counts are kept as whole numbers of this part.
_PART = 1000
#: From what a text's words say of each cause to log-odds: fitted on the incidents' texts, each read by the
#: words of those of other repositories.
_LOG_ODDS = 13.0
#: How descriptions of other failures are called among the causes.
OTHER = ""


class Descriptions(NamedTuple):
    """What the descriptions of each cause use: ``words`` gives for a word in how many texts it stands and
    then, by turns, the place of a cause in ``causes`` and its share, in thousandths; ``totals`` are the
    shares of all words of each cause. ``texts`` is how many texts there are, and ``of_others`` how many of
    them describe no device failure."""

    causes: Sequence[str] = ()
    totals: Sequence[int] = ()
    texts: int = 0
    of_others: int = 0
    words: Mapping[str, Sequence[int]] = MappingProxyType({})

    def scores(self, said: Mapping[str, float]) -> dict[str, float]:
        """What a text says for each cause, in log-odds that add up to nothing.

        Args:
            said: the words (`words_of`), each with how much it counts.
        """
        totals = [total / _PART for total in self.totals]
        named = [place for place, cause in enumerate(self.causes) if cause != OTHER]
        every = sum(totals[place] for place in named)
        size = _SMOOTHING * len(self.words)
        found = dict.fromkeys(named, 0.0)
        for word, share in self._shares(said):
            own = self._counts(word)
            whole = sum(count for place, count in own.items() if self.causes[place] != OTHER)
            for place in named:
                others = whole - own.get(place, 0.0) + _SMOOTHING
                found[place] -= share * math.log(others / (every - totals[place] + size))
        mean = math.fsum(found.values()) / (len(found) or 1)
        return {self.causes[place]: _LOG_ODDS * (value - mean) for place, value in found.items()}

    def device_failure(self, said: Mapping[str, float]) -> float:
        """What a text says for a device failure rather than another text about GPUs, in log-odds."""
        if OTHER not in self.causes or not self.of_others:
            return 0.0
        totals = [total / _PART for total in self.totals]
        other = self.causes.index(OTHER)
        balance = self.of_others / (self.texts - self.of_others)
        size = _SMOOTHING_OF_FAILURES * len(self.words)
        all_device, all_other = balance * (sum(totals) - totals[other]) + size, totals[other] + size
        score = 0.0
        for word, share in self._shares(said):
            own = self._counts(word)
            against = own.pop(other, 0.0) + _SMOOTHING_OF_FAILURES
            device = balance * sum(own.values()) + _SMOOTHING_OF_FAILURES
            score += share * math.log(device * all_other / (against * all_device))
        return score

    def likeness(self, said: Mapping[str, float], others: Iterable[str]) -> float:
        """How much two texts say the same, from 0 to 1: the cosine of their words, the rarer the longer.

        Args:
            said: the words of one, each with how much it counts.
            others: the words of the other.
        """
        mine, theirs = dict(self._shares(said)), self._shares(dict.fromkeys(others, 1.0))
        return math.fsum(mine.get(word, 0.0) * share for word, share in theirs)

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

    def _counts(self, word: str) -> dict[int, float]:
        _, *pairs = self.words[word]
        return {place: count / _PART for place, count in zip(pairs[::2], pairs[1::2], strict=True)}


def words_of(text: str) -> frozenset[str]:
    """The words of a text, their parts and neighbours: of English stems and pairs of stems, of Chinese runs
    of two and three characters."""
    import unicodedata  # a traceback has no need of it

    found = set[str]()
    before = ""
    for run in _WORDS.findall(unicodedata.normalize("NFKC", text).casefold()):
        if re.match(f"[{_HAN}]", run):
            found |= {run[at : at + 2] for at in range(len(run) - 1)}
            found |= {run[at : at + 3] for at in range(len(run) - 2)}
            before = ""
            continue
        root = stem(run)
        found |= {root, *root.split("_")}
        if before:
            found.add(f"{before} {root}")
        before = root
    return frozenset(found)


def counted(texts: Iterable[tuple[str, str]]) -> Descriptions:
    """What texts use, of which each stands with its cause, or `OTHER`.

    Pairs of words and of three characters that only one text has are left out.
    """
    read = [(cause, words_of(text)) for cause, text in texts]
    causes = tuple(sorted({cause for cause, _ in read}))
    places = {cause: place for place, cause in enumerate(causes)}
    documents = Counter(word for _, words in read for word in words)
    rarity = {
        word: _rarity(len(read), n)
        for word, n in documents.items()
        if n > 1 or not _is_several(word)
    }
    shares: defaultdict[str, Counter[int]] = defaultdict(Counter)
    totals = [0] * len(causes)
    for cause, words in read:
        rarities = {word: rarity[word] for word in words if word in rarity}
        length = math.hypot(*rarities.values()) or 1.0
        place = places[cause]
        for word, its in rarities.items():
            share = round(_PART * its / length)
            shares[word][place] += share
            totals[place] += share
    found = {
        word: [documents[word], *(n for pair in sorted(its.items()) for n in pair)]
        for word, its in sorted(shares.items())
    }
    others = sum(cause == OTHER for cause, _ in read)
    return Descriptions(causes, totals, len(read), others, found)


def _is_several(word: str) -> bool:
    return " " in word or (len(word) == 3 and re.match(f"[{_HAN}]", word) is not None)


def _rarity(texts: int, holding: int) -> float:
    return math.log((1 + texts) / (1 + holding)) + 1


def stem(word: str) -> str:
    """The word without the ending that tells moves from moved."""
    for ending in _ENDINGS:
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
