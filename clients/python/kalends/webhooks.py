"""Verifies the messages that Kalends sends to webhook endpoints."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PREFIX = "whsec_"
# The largest difference to the receiver's clock, in seconds.
TOLERANCE = 300


class WebhookError(Exception):
    """The message is not genuine, or too old. Answer with 400, and do nothing."""


@dataclass(frozen=True)
class Message:
    """A genuine message."""

    # The same in every attempt. Store the ones that you have handled.
    id: str
    type: str | None
    # The version of the resource. It rises with each change.
    version: int | None
    timestamp: int
    body: Any


def verify(
    secret: str | list[str],
    headers: Mapping[str, str],
    body: bytes,
    *,
    tolerance: int = TOLERANCE,
    now: float | None = None,
) -> Message:
    """Checks `webhook-signature` over the raw bytes of the body, before any parsing.

    During a rotation the header has a signature of each secret, so one secret of a receiver is enough. Pass several if
    the receiver serves several endpoints.
    """
    named = {name.lower(): value for name, value in headers.items()}
    try:
        identifier, stamp, given = (named[f"webhook-{part}"] for part in ["id", "timestamp", "signature"])
    except KeyError as missing:
        raise WebhookError(f"the header {missing} is missing") from None
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 12):
        raise WebhookError("webhook-timestamp is not a time in Unix seconds")
    timestamp = int(stamp)
    if abs((time.time() if now is None else now) - timestamp) > tolerance:
        raise WebhookError(f"webhook-timestamp differs from the clock by more than {tolerance} seconds")
    signed = _bytes(f"{identifier}.{stamp}.") + body
    signatures = [one.removeprefix("v1,") for one in given.split(" ") if one.startswith("v1,")]
    secrets = [secret] if isinstance(secret, str) else secret
    genuine = False
    for expected in [_sign(one, signed) for one in secrets]:
        for signature in signatures:
            genuine |= hmac.compare_digest(expected, _bytes(signature))
    if not genuine:
        raise WebhookError("no signature in webhook-signature is right")
    version = named.get("x-resource-version", "")
    try:
        parsed = json.loads(body)
    except ValueError:
        raise WebhookError("the body is not JSON") from None
    return Message(
        id=identifier,
        type=named.get("x-service-event-type"),
        version=int(version) if version.isascii() and version.isdigit() else None,
        timestamp=timestamp,
        body=parsed,
    )


def _bytes(header: str) -> bytes:
    try:
        # Some servers keep bytes that are not UTF-8 as surrogates.
        return header.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise WebhookError("a header is not text") from None


def _sign(secret: str, signed: bytes) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        key = b""
    # Anyone can sign with an empty key.
    if not key:
        raise ValueError("a secret is `whsec_` and base64")
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
