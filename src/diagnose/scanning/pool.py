"""Logs in processes of their own, scanned again where one of them dies."""

from __future__ import annotations

import multiprocessing
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from diagnose.model import Missing
from diagnose.scanning.log import ScannedLog, fault, scan_log

#: So many logs wait for each worker: enough to keep it busy, few enough to stay small.
_WAITING = 4


def scan(logs: Iterable[tuple[str, int]], workers: int) -> Iterator[tuple[ScannedLog, int]]:
    """What each log gave, with its size, as it is done by so many processes.

    Where a worker process dies, as when the machine runs out of memory, the logs that were being scanned
    are scanned again, each in a process of its own; one that kills this too is told as a fault.
    """
    waiting = iter(logs)
    while lost := (yield from _together(waiting, workers)):
        for name, size in lost:
            yield _alone(name), size


def _together(
    logs: Iterator[tuple[str, int]], workers: int
) -> Generator[tuple[ScannedLog, int], None, list[tuple[str, int]]]:
    """The logs in a pool of workers, until all are done or a worker dies; returns those it took along."""
    running: dict[Future[ScannedLog], tuple[str, int]] = {}
    with _pool(workers) as pool:
        try:
            for log in logs:
                try:
                    running[pool.submit(scan_log, log[0])] = log
                except BrokenProcessPool:
                    return [*running.values(), log]
                if len(running) >= workers * _WAITING:
                    yield from _done(running)
            while running:
                yield from _done(running)
        except BrokenProcessPool:
            return list(running.values())
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return []


def _alone(name: str) -> ScannedLog:
    """One log in a process of its own."""
    with _pool(1) as pool:
        try:
            return pool.submit(scan_log, name).result()
        except BrokenProcessPool as error:
            died = Missing("all of it", f"its process died, perhaps for lack of memory ({error})")
            return ScannedLog(name, faults=(fault(name, died),))


def _pool(workers: int) -> ProcessPoolExecutor:
    # Not forked: the caller may run threads.
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


def _done(
    running: dict[Future[ScannedLog], tuple[str, int]],
) -> Iterator[tuple[ScannedLog, int]]:
    finished, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in finished:
        scanned = future.result()
        _, size = running.pop(future)
        yield scanned, size
