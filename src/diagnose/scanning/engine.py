"""The same scan as a mapper on Dask, for log stores beyond one machine.

Dask of the engines, because it is Python alone, installs in seconds beside any torch, runs the same code
on one machine and on a cluster (`dask.distributed`, Kubernetes, Slurm, Ray through dask-on-ray), and opens
what `fsspec` opens: s3://, gs://, abfs://, hdfs://, https://. Any engine that maps a function over items
can use `scan_url` as it is; what it returns is a plain, small, picklable object.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from diagnose.inputs import is_binary
from diagnose.installation import needs
from diagnose.parsing.bytestream import peek
from diagnose.parsing.compression import decompressed
from diagnose.scanning.groups import Grouping, grouped
from diagnose.scanning.log import ScannedLog, scan_stream

_HEAD = 65536
_READ_AHEAD = 8 << 20


def scan_url(url: str, storage_options: Mapping[str, Any] | None = None) -> ScannedLog:
    """Scans one log of a store, decompressed where it is compressed. What goes wrong with a log is told
    in ``problem``: one bad object must not end a job of a million."""
    import fsspec

    try:
        with fsspec.open(url, "rb", block_size=_READ_AHEAD, **(storage_options or {})) as file:
            head, stream = peek(decompressed(file), _HEAD)
            if is_binary(head):
                return ScannedLog(url, problem=f"{url} is binary, not a log")
            return scan_stream(stream, url)
    except Exception as error:  # each store has errors of its own
        return ScannedLog(url, problem=f"{url} cannot be read: {type(error).__name__}: {error}")


def scan_urls(
    urls: str | Sequence[str],
    *,
    partitions: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Any:
    """A lazy Dask value of the `Grouping` of many logs; ``.compute()`` runs it on the current scheduler.

    Args:
        urls: addresses or a pattern (``s3://bucket/runs/**/*.log.gz``) that `fsspec` understands.
        partitions: into how many tasks the logs are divided; Dask's choice if None.
        storage_options: for the store, as `fsspec` takes them.

    Raises:
        ImportError: Dask is not installed (extra ``dask``).
        FileNotFoundError: nothing matches.
    """
    try:
        from dask import bag
    except ImportError as error:
        raise ImportError(needs("Dask", "dask")) from error
    names = _expanded(urls, storage_options or {})
    sequence: Any = bag.from_sequence  # Dask has no types for it
    logs = sequence(names, npartitions=partitions)
    return logs.map(scan_url, storage_options).reduction(grouped, merged)


def merged(groupings: Iterable[Grouping]) -> Grouping:
    """The groupings of parts as one."""
    whole = Grouping()
    for grouping in groupings:
        whole.merge(grouping)
    return whole


def _expanded(urls: str | Sequence[str], options: Mapping[str, Any]) -> list[str]:
    """The addresses that patterns stand for, each once, in order."""
    from fsspec.core import get_fs_token_paths

    found: dict[str, None] = {}
    for url in [urls] if isinstance(urls, str) else urls:
        system, _, paths = get_fs_token_paths(url, storage_options=dict(options))
        found.update((system.unstrip_protocol(path), None) for path in paths)
    if not found:
        raise FileNotFoundError(f"no log matches {urls}")
    return list(found)
