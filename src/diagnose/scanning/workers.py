"""Many logs at once: one process a core, one log at a time each."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from diagnose.scanning.log import ScannedLog, scan_log

#: So many logs wait for each worker: enough to keep it busy, few enough to stay small.
_WAITING = 4


class WorkerError(Exception):
    """A worker died, as when the machine runs out of memory; the message is a sentence."""


def scan(logs: Iterable[tuple[str, int]], workers: int = 1) -> Iterator[tuple[ScannedLog, int]]:
    """What each log gave, with its size, as it is done. One worker scans in this process.

    Raises:
        WorkerError: a worker process died.
    """
    if workers < 2:
        for name, size in logs:
            yield scan_log(name), size
        return
    # Not forked: the caller may run threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        running: dict[Future[ScannedLog], tuple[str, int]] = {}
        try:
            for name, size in logs:
                running[pool.submit(scan_log, name)] = (name, size)
                if len(running) >= workers * _WAITING:
                    yield from _done(running)
            while running:
                yield from _done(running)
        except BrokenProcessPool as error:
            names = ", ".join(name for name, _ in list(running.values())[: 2 * workers])
            raise WorkerError(
                f"a worker process died, perhaps for lack of memory, near {names}; "
                "--jobs 1 scans in one process"
            ) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _done(
    running: dict[Future[ScannedLog], tuple[str, int]],
) -> Iterator[tuple[ScannedLog, int]]:
    finished, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in finished:
        scanned = future.result()
        _, size = running.pop(future)
        yield scanned, size
