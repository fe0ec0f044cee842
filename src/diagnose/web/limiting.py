"""How often one address may ask, by Flask-Limiter, which counts in the store: all workers together."""

from __future__ import annotations

from typing import cast

from flask import Flask, current_app, request

from diagnose.installation import needs
from diagnose.memory.lookup import StoreError
from diagnose.memory.store import Store
from diagnose.web.access import PUBLIC

try:
    from flask_limiter import Limiter
    from flask_limiter.util import get_remote_address
    from limits import parse_many
    from limits.storage import Storage
except ImportError as error:
    raise ImportError(needs("Flask-Limiter", "server"), name="flask_limiter") from error


class InStore(Storage):
    """Counts of requests that stand in the store of the app, as `limits` asks for them."""

    STORAGE_SCHEME = ["diagnose"]  # noqa: RUF012  # which limits makes a name of the class from
    base_exceptions = StoreError

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Counts requests in; how many there are now."""
        return self._store.hit(key, expiry, amount)

    def get(self, key: str) -> int:
        """How many there are."""
        return self._store.hits(key)[0]

    def get_expiry(self, key: str) -> float:
        """When they begin anew, in seconds since 1970."""
        return self._store.hits(key)[1]

    def check(self) -> bool:
        """Whether the store can be read."""
        try:
            self._store.ready()
        except StoreError:
            return False
        return True

    def reset(self) -> None:
        """Nobody begins all anew by hand, nor one."""
        raise NotImplementedError

    def clear(self, key: str) -> None:
        """As `reset`."""
        raise NotImplementedError

    @property
    def _store(self) -> Store:
        return cast(Store, current_app.extensions["diagnose-store"])


def limit(app: Flask, rate: str) -> None:
    """Refuses more requests from one address than a rate allows (``120 per minute``) with 429. Without a
    store, and while it cannot be used, each worker counts for itself.

    Raises:
        ValueError: it is no rate.
    """
    parse_many(rate)  # which Flask-Limiter would do at the first request
    limiter = Limiter(
        get_remote_address,
        app=app,
        application_limits=[rate],
        storage_uri="diagnose://" if app.extensions["diagnose"].store else "memory://",
        in_memory_fallback_enabled=True,
        headers_enabled=True,
    )
    limiter.request_filter(lambda: request.endpoint in PUBLIC)
