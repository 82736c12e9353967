from enum import StrEnum


class EventSource(StrEnum):
    EXTERNAL_ICAL = "external_ical"
    INTERNAL = "internal"

    def __str__(self) -> str:
        return str(self.value)
