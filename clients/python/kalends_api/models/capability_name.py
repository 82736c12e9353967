from enum import StrEnum


class CapabilityName(StrEnum):
    AVAILABILITY = "availability"
    PUBLISHING = "publishing"

    def __str__(self) -> str:
        return str(self.value)
