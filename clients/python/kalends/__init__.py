"""The Python client of Kalends: every operation of the API, with retries, paging, typed errors and webhooks."""

from ._approvals import ApprovalPending
from ._client import Answer, AsyncKalends, Kalends
from ._errors import ApiError
from ._retry import Retry, idempotency_key
from .webhooks import Message, WebhookError, verify

__all__ = [
    "Answer",
    "ApiError",
    "ApprovalPending",
    "AsyncKalends",
    "Kalends",
    "Message",
    "Retry",
    "WebhookError",
    "idempotency_key",
    "verify",
]
