"""Many items of work in processes of their own, tried again where one of them dies."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

#: So many items wait for each worker: enough to keep it busy, few enough to stay small.
_WAITING = 4


def each(
    work: Callable[[T], R], items: Iterable[T], workers: int, died: Callable[[T, str], R]
) -> Iterator[tuple[T, R]]:
    """Each item with what ``work`` makes of it, as it is done by so many processes.

    Where a worker process dies, as when the machine runs out of memory, the items that were being worked
    on are tried again, each in a process of its own; of one that kills this too, ``died`` makes a result
    from the item and the reason.

    Args:
        work: a function that another process can import, or a `functools.partial` of one.
        items: what it is called with.
        workers: at most so many processes.
        died: makes the result where there is none.
    """
    waiting = iter(items)
    while lost := (yield from _together(work, waiting, workers)):
        for item in lost:
            yield item, _alone(work, item, died)


def _together(
    work: Callable[[T], R], items: Iterator[T], workers: int
) -> Generator[tuple[T, R], None, list[T]]:
    """The items in a pool of workers, until all are done or a worker dies; returns those it took along."""
    running: dict[Future[R], T] = {}
    with _pool(workers) as pool:
        try:
            for item in items:
                try:
                    running[pool.submit(work, item)] = item
                except BrokenProcessPool:
                    return [*running.values(), item]
                if len(running) >= workers * _WAITING:
                    yield from _done(running)
            while running:
                yield from _done(running)
        except BrokenProcessPool:
            return list(running.values())
        finally:
            # Waits for the pool's own thread, which `with` does not once it was told not to wait: a program
            # that ends beside it prints a traceback of the interpreter's (OSError: Bad file descriptor).
            pool.shutdown(cancel_futures=True)
    return []


def _alone(work: Callable[[T], R], item: T, died: Callable[[T, str], R]) -> R:
    """One item in a process of its own."""
    with _pool(1) as pool:
        try:
            return pool.submit(work, item).result()
        except BrokenProcessPool as error:
            return died(item, f"perhaps for lack of memory ({error})")


def _pool(workers: int) -> ProcessPoolExecutor:
    # Not forked: the caller may run threads.
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


def _done(running: dict[Future[R], T]) -> Iterator[tuple[T, R]]:
    finished, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in finished:
        result = future.result()
        yield running.pop(future), result
