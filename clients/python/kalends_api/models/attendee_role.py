from enum import StrEnum


class AttendeeRole(StrEnum):
    OPTIONAL = "optional"
    REQUIRED = "required"

    def __str__(self) -> str:
        return str(self.value)
