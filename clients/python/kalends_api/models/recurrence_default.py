from enum import StrEnum


class RecurrenceDefault(StrEnum):
    CALENDAR = "calendar"
    UTC = "utc"

    def __str__(self) -> str:
        return str(self.value)
