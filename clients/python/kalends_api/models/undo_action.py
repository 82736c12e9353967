from enum import StrEnum


class UndoAction(StrEnum):
    CANCELLED = "cancelled"
    REMOVED = "removed"
    RESTORED = "restored"

    def __str__(self) -> str:
        return str(self.value)
