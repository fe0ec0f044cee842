"""How retrieval grows with the case base: 100 to 100,000 incidents, by index and by RapidFuzz over all.

    python benchmarks/growth.py [--sizes 100,1000,10000,100000] [--reports 40] [--svg growth.svg]
                                [--postgresql URL of an empty database]

The incidents are made from the documented ones: their identifiers, messages and libraries are taken
apart and put together anew with a fixed seed. Two kinds of reports are looked up: incidents that
happen *again* (other paths, line numbers and devices, frames and libraries lost and added) and *new*
ones that the case base does not hold. "Own found" is how often an incident that happens again is among
those that the index names; "nearest found" is how often the one that is nearest by RapidFuzz over all,
or one that is exactly as near, is among them.
"""

from __future__ import annotations

import argparse
import gc
import math
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path

from sqlalchemy import create_engine, text

from diagnose.casebase import schema
from diagnose.casebase.index import Documented, StoredIncidents, documented
from diagnose.casebase.signature import of_report
from diagnose.casebase.store import load
from diagnose.compiling.build import build_into, remove_incidents, write_incidents, writing
from diagnose.model import Failure, Frame, Incident, Mismatch, Report
from diagnose.ranking.neighbours import nearest, similarity

KB = Path(__file__).parents[1] / "kb"
BATCH = 5000


@dataclass(frozen=True, slots=True)
class Measured:
    """One size of the case base: seconds, bytes and milliseconds; shares of the reports."""

    incidents: int
    build_s: float
    size: int
    index_ms: tuple[float, float]
    all_ms: tuple[float, float]
    own_found: float
    found_again: float
    found_new: float


class Maker:
    """Makes incidents and reports out of the parts of real ones."""

    def __init__(self, incidents: Sequence[Incident], seed: int) -> None:
        self.random = random.Random(seed)
        self.incidents = [incident for incident in incidents if incident.message]
        frames = [frame for incident in incidents for frame in incident.frames]
        places = [frame.rpartition(" ") for frame in frames]
        self.depths = [len(i.frames) for i in incidents if i.frames]
        self.folders = self._common({p[0].rpartition("/")[0] or "src" for p in places})
        names = {p[0].rpartition("/")[2].partition(".")[0] for p in places}
        self.words = self._common({w for name in names for w in name.split("_") if w})
        calls = {p[2].strip("<>_") for p in places} - {"module"}
        self.verbs = self._common({w for call in calls for w in call.split("_") if w})
        self.calls = self._common(calls)

    def _common(self, names: set[str]) -> tuple[list[str], list[float]]:
        """Names in a random order with cumulative Zipf weights: few are common, most are rare."""
        order = sorted(names)
        self.random.shuffle(order)
        return order, list(accumulate(1 / rank for rank in range(1, len(order) + 1)))

    def _one(self, names: tuple[list[str], list[float]]) -> str:
        return self.random.choices(names[0], cum_weights=names[1])[0]

    def _frame(self) -> str:
        """A frame whose names are made of real words; half of the functions are real ones."""
        name = "_".join({self._one(self.words): 0, self._one(self.words): 0})
        call = self._one(self.calls)
        if self.random.random() < 0.5:
            call = "_".join({self._one(self.verbs): 0, self._one(self.words): 0})
        return f"{self._one(self.folders)}/{name}.py:{self.random.randrange(9, 2000)} {call}"

    def incident(self, key: str) -> Incident:
        """A new incident: message of one, libraries of another, frames of its own."""
        said, where = self.random.choices(self.incidents, k=2)
        depth = self.random.choice(self.depths)
        frames = tuple(self._frame() for _ in range(depth)) if self.random.random() < 0.9 else ()
        return Incident(
            id=key, title=f"{said.title[:80]} {key}", cause=said.cause, saw=said.saw, was=said.was,
            mended=said.mended, url=f"https://example.org/{key}", sources=(),
            libraries=where.libraries, exception=said.exception, message=said.message,
            devices=said.devices, op=said.op, argument=said.argument, frames=frames,
            fixes=said.fixes,
        )  # fmt: skip

    def report(self, incident: Incident) -> Report:
        """What somebody reports to whom the incident happens on another machine."""
        kept = [f for f in incident.frames if self.random.random() < 0.8]
        frames = [self._frame(), *kept] if self.random.random() < 0.5 else kept
        message = incident.message.replace("cuda:0", f"cuda:{self.random.randrange(8)}")
        return Report(
            "-",
            Failure(incident.exception or "RuntimeError", message, "device-placement"),
            Mismatch(incident.devices, incident.op, incident.argument, "-"),
            tuple(
                Frame(f"/home/me/{place}", self.random.randrange(2000), function)
                for place, _, function in (frame.rpartition(" ") for frame in frames)
            ),
            tuple(name for name in incident.libraries if self.random.random() < 0.9),
        )


def rows(incident: Incident, position: int) -> Iterator[schema.Base]:
    """The rows of an incident."""
    yield schema.IncidentRow(
        id=incident.id, position=position, cause_id=incident.cause, exception=incident.exception,
        message=incident.message, op=incident.op, argument=incident.argument,
        devices=list(incident.devices), libraries=list(incident.libraries),
        frames=list(incident.frames), fixes=list(incident.fixes), versions={}, gpus=1, reproduce="",
    )  # fmt: skip
    for lang in ("en", "zh"):
        yield schema.IncidentTextRow(
            incident_id=incident.id, lang=lang, title=incident.title,
            saw=incident.saw, was=incident.was, mended=incident.mended,
        )  # fmt: skip
    yield schema.IncidentSourceRow(
        incident_id=incident.id, position=0, url=incident.url, supports="made for the benchmark"
    )


def grow(url: str, incidents: Iterator[Incident], wanted: int) -> float:
    """Adds incidents until there are ``wanted``; returns the seconds it took."""
    started = time.perf_counter()
    while (missing := wanted - count(url)) > 0:
        with writing(url) as session:
            some = list(islice(incidents, min(BATCH, missing)))
            write_incidents(session, (row for n, one in enumerate(some) for row in rows(one, n)))
    return time.perf_counter() - started


def count(url: str) -> int:
    """How many incidents a database holds."""
    return len(load_again(url))


def load_again(url: str) -> StoredIncidents:
    """The incidents of a database, without what was cached."""
    load.cache_clear()
    found = load(url).incidents
    assert isinstance(found, StoredIncidents)
    return found


def size(url: str) -> int:
    """Bytes of a database."""
    engine = create_engine(url)
    question = (
        "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        if engine.dialect.name == "sqlite"
        else "SELECT pg_database_size(current_database())"
    )
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection.execution_options(isolation_level="AUTOCOMMIT").execute(text("ANALYZE"))
        found = int(connection.execute(text(question)).scalar_one())
    engine.dispose()
    return found


def timed(action: Callable[[Report], object], reports: Sequence[Report]) -> tuple[float, float]:
    """Median and 95th percentile in milliseconds; the first report is looked up twice."""
    action(reports[0])
    taken = []
    for report in reports:
        started = time.perf_counter()
        action(report)
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken), statistics.quantiles(taken, n=20)[-1]


def found(reports: Sequence[Report], index: StoredIncidents, known: Sequence[Documented]) -> float:
    """The share of reports whose nearest incident, or one as near, the index names."""
    signatures = [one.signature for one in known]
    held = 0
    for report in reports:
        mine = of_report(report)
        named = [one.signature for one in index.candidates(report)]
        held += max(similarity(mine, named), default=0) == max(similarity(mine, signatures))
    return held / len(reports)


def own_found(again: Mapping[str, Report], index: StoredIncidents) -> float:
    """The share of incidents that the index names for the reports of them."""
    held = [key in {one.id for one in index.candidates(report)} for key, report in again.items()]
    return sum(held) / len(held)


def measure(kb: Path, url: str, sizes: Sequence[int], reports: int) -> Iterator[Measured]:
    """Lets one database grow through ``sizes``."""
    build_into(kb, url)
    real = list(load(url).incidents.values())
    maker = Maker(real, seed=1)
    made: list[Incident] = []

    def incidents() -> Iterator[Incident]:
        while True:
            made.append(maker.incident(f"made-{len(made)}"))
            yield made[-1]

    endless, took = incidents(), 0.0
    with writing(url) as session:  # the smallest size is less than all real incidents
        remove_incidents(session, [one.id for one in real[min(sizes) :]])
    held = real[: min(sizes)]
    for wanted in sizes:
        took += grow(url, endless, wanted)
        index = load_again(url)
        known = [documented(one) for one in [*held, *made]]
        look = random.Random(wanted)
        strangers = Maker(real, seed=wanted + 2)
        some = look.sample([*held, *made], min(wanted, 10 * reports))
        chosen = {one.id: maker.report(one) for one in some}
        again = list(chosen.values())[:reports]
        new = [strangers.report(strangers.incident("new")) for _ in range(reports)]
        signatures = [one.signature for one in known]
        gc.collect()
        gc.freeze()  # what only the benchmark keeps in memory shall not slow the collector down
        yield Measured(
            wanted,
            took,
            size(url),
            timed(lambda report: nearest(report, index), again + new),  # noqa: B023
            timed(lambda report: similarity(of_report(report), signatures), again),  # noqa: B023
            own_found(chosen, index),
            found(again, index, known),
            found(new, index, known),
        )


def table(measured: Sequence[Measured]) -> str:
    """The figures as a Markdown table."""
    lines = [
        "| incidents | build s | size MB | index ms: median | p95 | RapidFuzz over all ms: median"
        " | p95 | own found | nearest found, again | nearest found, new |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for m in measured:
        lines.append(
            f"| {m.incidents:,} | {m.build_s:.1f} | {m.size / 1e6:.1f}"
            f" | {m.index_ms[0]:.2f} | {m.index_ms[1]:.2f} | {m.all_ms[0]:.2f} | {m.all_ms[1]:.2f}"
            f" | {m.own_found:.3f} | {m.found_again:.3f} | {m.found_new:.3f} |"
        )
    return "\n".join(lines)


def svg(curves: Mapping[str, Sequence[Measured]]) -> str:
    """Both axes logarithmic: milliseconds by the number of incidents."""
    lines = {name: [(m.incidents, m.index_ms[0]) for m in curve] for name, curve in curves.items()}
    lines["RapidFuzz over all"] = [(m.incidents, m.all_ms[0]) for m in next(iter(curves.values()))]
    (low, high), (fast, slow) = (
        (math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))))
        for values in zip(*(point for line in lines.values() for point in line), strict=True)
    )

    def x(incidents: float) -> float:
        return 70 + 430 * (math.log10(incidents) - low) / (high - low)

    def y(ms: float) -> float:
        return 300 - 270 * (math.log10(ms) - fast) / (slow - fast)

    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 350" font-family="sans-serif"'
        ' font-size="13" role="img"><title>Milliseconds per report by number of incidents</title>',
        '<rect width="760" height="350" fill="#fff"/>',
    ]
    for power in range(low, high + 1):
        at = x(10**power)
        parts.append(f'<path d="M{at:.0f} 30V300" stroke="#ddd"/>')
        parts.append(f'<text x="{at:.0f}" y="320" text-anchor="middle">{10**power:,}</text>')
    for power in range(fast, slow + 1):
        at = y(10**power)
        parts.append(f'<path d="M70 {at:.0f}H500" stroke="#ddd"/>')
        parts.append(f'<text x="62" y="{at + 4:.0f}" text-anchor="end">{10.0**power:g} ms</text>')
    for (name, line), color in zip(lines.items(), ("#0b6e4f", "#2b59c3", "#c1440e"), strict=False):
        points = " ".join(f"{x(n):.1f},{y(ms):.1f}" for n, ms in line)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
        end = f'x="510" y="{y(line[-1][1]) + 4:.0f}"'
        parts.append(f'<text {end} fill="{color}">{name}, {line[-1][1]:.1f} ms</text>')
    parts.append('<text x="285" y="342" text-anchor="middle">incidents</text></svg>')
    return "\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sizes", default="100,1000,10000,100000")
    parser.add_argument(
        "--reports",
        type=int,
        default=40,
        help="of each kind, at each size; ten times for own found",
    )
    parser.add_argument("--svg", type=Path, help="write the curve here")
    parser.add_argument("--postgresql", help="URL of an empty database to measure as well")
    parser.add_argument("--kb", type=Path, default=KB, help="where the real incidents come from")
    given = parser.parse_args()
    sizes = [int(part) for part in given.sizes.split(",")]
    curves: dict[str, list[Measured]] = {}
    with tempfile.TemporaryDirectory() as folder:
        urls = {"SQLite, FTS5": f"sqlite:///{folder}/growth.sqlite"}
        if given.postgresql:
            urls["PostgreSQL, tsvector and GIN"] = given.postgresql
        for name, url in urls.items():
            curves[name] = list(measure(given.kb, url, sizes, given.reports))
            print(f"\n{name}\n\n{table(curves[name])}", flush=True)
    if given.svg:
        given.svg.write_text(svg(curves), encoding="utf-8")


if __name__ == "__main__":
    main()
