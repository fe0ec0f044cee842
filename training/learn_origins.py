"""Learns from the source of packages where an expression comes from: src/diagnose/naming/origins.bin.

    python training/fetch_packages.py packages/     # the source of training/packages.txt, a folder each
    python training/learn_origins.py packages/ [--write] [--curve]

Every operand whose definition its own file shows is an example (`occurrences`). Validated on packages
that were left out as a whole, beside the word lists of kb/words.toml. Seeds are fixed. Needs torch.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).parent))
from occurrences import of_file

from diagnose.naming.origins import ORIGINS
from diagnose.naming.table import Table, row

TABLE = Path(__file__).parents[1] / "src" / "diagnose" / "naming" / "origins.bin"
#: How many rows the table has.
ROWS = 1 << 14
#: A package gives at most so many examples, so that the largest do not speak for all.
MOST = 6_000
#: And of so many of its files, chosen at random.
FILES = 60
#: Of one name in one file at most so many: a file that repeats a name says nothing new.
REPEATED = 3
#: One package in so many is left out for the validation.
HELD_OUT = 6
EPOCHS, RATE, BATCH = 3, 0.05, 2048
SEED = 0


class Package(NamedTuple):
    """The examples of a package: the rows of each one's features, and its origin."""

    name: str
    rows: list[list[int]]
    origins: list[int]
    texts: list[str]


def collected(folder: Path) -> Package:
    """The examples of one package, a random choice where there are many."""
    rows, origins, texts = [], [], []
    files = [f for f in sorted(folder.rglob("*.py")) if "test" not in f.name and f.stat().st_size]
    for file in sorted(random.Random(SEED).sample(files, min(FILES, len(files)))):
        seen: Counter[tuple[str, int]] = Counter()
        for example in of_file(file):
            key = example.text, example.origin
            seen[key] += 1
            if seen[key] > REPEATED:
                continue
            rows.append(sorted({row(feature, ROWS) for feature in example.features}))
            origins.append(example.origin)
            texts.append(example.text)
    if len(rows) > MOST:
        chosen = sorted(random.Random(SEED).sample(range(len(rows)), MOST))
        rows, origins, texts = ([some[k] for k in chosen] for some in (rows, origins, texts))
    return Package(folder.name, rows, origins, texts)


def learned(packages: Sequence[Package]) -> torch.Tensor:
    """The weights, ROWS by ORIGINS."""
    torch.manual_seed(SEED)
    rows = [some for package in packages for some in package.rows]
    origins = torch.tensor([o for package in packages for o in package.origins])
    flat = torch.tensor([r for some in rows for r in some])
    lengths = torch.tensor([len(some) for some in rows])
    starts = torch.cat([torch.zeros(1, dtype=torch.long), lengths.cumsum(0)])
    table = nn.EmbeddingBag(ROWS, len(ORIGINS), mode="sum")
    nn.init.zeros_(table.weight)
    optimizer = torch.optim.Adagrad(table.parameters(), lr=RATE)
    for epoch in range(EPOCHS):
        order = torch.randperm(len(rows))
        total = 0.0
        for part in order.split(BATCH):
            pieces = [flat[starts[k] : starts[k + 1]] for k in part.tolist()]
            offsets = torch.cat([torch.zeros(1, dtype=torch.long), lengths[part].cumsum(0)[:-1]])
            scores = table(torch.cat(pieces), offsets)
            loss = nn.functional.cross_entropy(scores, origins[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(part)
        print(f"  epoch {epoch + 1}: {total / len(rows):.3f} nats", flush=True)
    return table.weight.detach()


def validated(table: Table, packages: Sequence[Package]) -> Iterator[tuple[str, str, float]]:
    """The true origin, the likeliest one, and the true one's share, of each example left out."""
    weights = torch.frombuffer(bytearray(table.weights), dtype=torch.int8).view(ROWS, -1).float()
    for package in packages:
        for rows, origin in zip(package.rows, package.origins, strict=True):
            shares = torch.softmax(weights[rows].sum(0) * table.scale, 0)
            yield ORIGINS[origin], ORIGINS[int(shares.argmax())], float(shares[origin])


def main() -> None:
    """Prints the validation, and writes the table where asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("packages", type=Path, metavar="DIR", help="a folder a package")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    parser.add_argument("--curve", action="store_true", help="learn from a half, a quarter ... too")
    options = parser.parse_args()
    begun = time.monotonic()
    with Pool(2) as pool:
        folders = sorted(f for f in options.packages.iterdir() if f.is_dir())
        packages = [p for p in pool.imap(collected, folders) if p.rows]
    random.Random(SEED).shuffle(packages)
    count = sum(len(p.rows) for p in packages)
    print(f"{len(packages)} packages, {count} operands, {time.monotonic() - begun:.0f} s")
    out, kept = packages[::HELD_OUT], [p for k, p in enumerate(packages) if k % HELD_OUT]
    for divisor in (8, 4, 2, 1) if options.curve else (1,):
        some = kept[: max(1, len(kept) // divisor)]
        table = Table.of(ORIGINS, learned(some).tolist())
        _print(
            f"learned from {len(some)} packages, asked on {len(out)} others", validated(table, out)
        )
    if options.write:
        table = Table.of(ORIGINS, learned(packages).tolist())
        TABLE.write_bytes(table.packed())
        print(f"{TABLE} written, {TABLE.stat().st_size} bytes")


def _print(title: str, answers: Iterator[tuple[str, str, float]]) -> None:
    right: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    named: Counter[str] = Counter()
    share = 0.0
    for true, said, its in answers:
        wanted[true] += 1
        named[said] += 1
        right[true] += true == said
        share += its
    count = sum(wanted.values())
    print(
        f"{title}: {sum(right.values()) / count:.3f} right of {count}, mean share {share / count:.3f}"
    )
    for origin, number in wanted.most_common():
        precision = right[origin] / named[origin] if named[origin] else 0.0
        print(
            f"  {origin:11} {number:7}  recall {right[origin] / number:.2f}  precision {precision:.2f}"
        )


if __name__ == "__main__":
    main()
