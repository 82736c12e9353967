from enum import StrEnum


class SubscriptionStatusName(StrEnum):
    ACTIVE = "active"
    ERROR = "error"
    PAUSED = "paused"

    def __str__(self) -> str:
        return str(self.value)
