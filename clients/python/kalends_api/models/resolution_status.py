from enum import StrEnum


class ResolutionStatus(StrEnum):
    CANCELLED = "cancelled"
    CONFIRMED = "confirmed"

    def __str__(self) -> str:
        return str(self.value)
