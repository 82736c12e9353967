"""When to repeat a request, and after what wait."""

from __future__ import annotations

import re
import time
import uuid
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

# The maximum of the first wait if the service names none, in seconds.
FIRST_WAIT = 0.25
# 409 has `Retry-After` if the first request under the same key is still running, or if other requests were faster.
WITH_HEADER = frozenset({409, 429, 502, 503, 504})
# A proxy answered, and named no wait.
WITHOUT_HEADER = frozenset({502, 503, 504})
# Repeating them has the same effect as sending them once.
IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})
WRITES = frozenset({"POST", "PATCH", "PUT", "DELETE"})
HEADER = "Idempotency-Key"
# A date in the form that RFC 9110 prescribes.
DATE = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT")
# The longest wait that a header can name, in seconds.
YEAR = 366 * 86_400.0


def idempotency_key() -> str:
    """A new random key. Send the same key with every attempt at one write."""
    return uuid.uuid4().hex


@dataclass(frozen=True)
class Retry:
    """How often to send a request, and how long to wait between attempts. Times are in seconds."""

    # The maximum number of attempts, including the first one. 1 turns retries off.
    attempts: int = 4
    # If the service asks for a longer wait, its answer is returned at once.
    longest_wait: float = 10.0
    # No attempt begins later than this after the first one began.
    longest_total: float = 60.0

    def wait(
        self, attempt: int, passed: float, status: int | None, retry_after: float | None, jitter: float
    ) -> float | None:
        """The wait before the next attempt. `None` if there is none.

        `attempt` is the number of the attempt that ended, from 1, and `passed` is the time since the first one began.
        `status` is `None` if there was no answer. `jitter` is between 0 and 1: callers that failed together do not
        repeat together.
        """
        if attempt >= self.attempts:
            return None
        if status in WITH_HEADER and retry_after is not None:
            wait = retry_after if retry_after <= self.longest_wait else None
        elif status is None or status in WITHOUT_HEADER:
            most = min(FIRST_WAIT * 2 ** min(attempt - 1, 30), self.longest_wait)
            wait = most / 2 + most / 2 * jitter
        else:
            wait = None
        return wait if wait is not None and passed + wait <= self.longest_total else None


def may_repeat(method: str, has_key: bool) -> bool:
    """Whether a request may be sent twice without a second effect."""
    return method in IDEMPOTENT or has_key


def seconds(header: str | None, now: float | None = None) -> float | None:
    """The wait that `Retry-After` names in seconds or as a date, from 0 to a year."""
    if header is None:
        return None
    if header.isascii() and header.isdigit():
        return min(float(header), YEAR)
    if not DATE.fullmatch(header):
        return None
    try:
        date = parsedate_to_datetime(header).timestamp()
    except ValueError:
        return None
    return min(max(date - (time.time() if now is None else now), 0.0), YEAR)
