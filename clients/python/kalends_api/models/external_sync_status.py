from enum import StrEnum


class ExternalSyncStatus(StrEnum):
    FAILED = "failed"
    NOT_CONFIGURED = "not_configured"
    PUBLISHED = "published"
    QUEUED = "queued"
    SKIPPED = "skipped"

    def __str__(self) -> str:
        return str(self.value)
