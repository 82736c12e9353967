from enum import StrEnum


class ErrorType(StrEnum):
    ACCOUNT_WAITLISTED = "account_waitlisted"
    AUTHENTICATION_ERROR = "authentication_error"
    BAD_REQUEST = "bad_request"
    CONFLICT = "conflict"
    FORBIDDEN = "forbidden"
    INTERNAL_ERROR = "internal_error"
    INVALID_REQUEST = "invalid_request"
    NOT_FOUND = "not_found"
    PLAN_REQUIRED = "plan_required"
    QUOTA_EXCEEDED = "quota_exceeded"
    RATE_LIMITED = "rate_limited"
    RATE_LIMIT_ERROR = "rate_limit_error"
    TOS_VERSION_STALE = "tos_version_stale"
    UNAUTHORIZED = "unauthorized"
    VALIDATION = "validation"
    VALIDATION_ERROR = "validation_error"

    def __str__(self) -> str:
        return str(self.value)
