from enum import StrEnum


class HoldScope(StrEnum):
    AGENT = "agent"
    CALENDAR = "calendar"

    def __str__(self) -> str:
        return str(self.value)
