from enum import StrEnum


class EventStatus(StrEnum):
    CANCELLED = "cancelled"
    CONFIRMED = "confirmed"
    HOLD = "hold"
    TENTATIVE = "tentative"

    def __str__(self) -> str:
        return str(self.value)
