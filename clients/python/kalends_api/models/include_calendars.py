from enum import StrEnum


class IncludeCalendars(StrEnum):
    ALL = "all"

    def __str__(self) -> str:
        return str(self.value)
