from enum import StrEnum


class ExternalSyncStatus(StrEnum):
    DIVERGED = "diverged"
    FAILED = "failed"
    NOT_CONFIGURED = "not_configured"
    PUBLISHED = "published"
    QUEUED = "queued"
    SKIPPED = "skipped"

    def __str__(self) -> str:
        return str(self.value)
