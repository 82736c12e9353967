from enum import StrEnum


class ConnectionLinkStatus(StrEnum):
    AWAITING_HUMAN = "awaiting_human"
    CANCELLED = "cancelled"
    COMPLETED = "completed"
    DECLINED = "declined"
    EXPIRED = "expired"
    IN_PROGRESS = "in_progress"

    def __str__(self) -> str:
        return str(self.value)
