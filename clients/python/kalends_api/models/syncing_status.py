from enum import StrEnum


class SyncingStatus(StrEnum):
    SYNCING = "syncing"

    def __str__(self) -> str:
        return str(self.value)
