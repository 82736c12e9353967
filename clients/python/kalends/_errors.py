"""The errors of the service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from ._retry import seconds


class ApiError(Exception):
    """The service refused a request.

    `type` and `code` are stable names. They are `None` if something else than the service answered, such as a proxy.
    `param` names the field. Quote `request_id` to the operator. `error` has all fields of the error, such as
    `nearest_free` of `slot_taken`.
    """

    def __init__(self, response: httpx.Response) -> None:
        self.status = response.status_code
        self.error = _error_of(response)
        self.type = _text(self.error, "type")
        self.code = _text(self.error, "code")
        self.param = _text(self.error, "param")
        self.request_id = _text(self.error, "request_id") or response.headers.get("X-Request-Id")
        # In seconds.
        self.retry_after = seconds(response.headers.get("Retry-After"))
        self.message = _text(self.error, "message") or f"the answer has the status {self.status}"
        super().__init__(f"{self.status} {self.code}: {self.message}" if self.code else self.message)


def _error_of(response: httpx.Response) -> Mapping[str, Any]:
    try:
        body = response.json()
    except ValueError:
        return {}
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else {}


def _text(error: Mapping[str, Any], name: str) -> str | None:
    value = error.get(name)
    return value if isinstance(value, str) else None
