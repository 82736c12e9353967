from enum import StrEnum


class ResponseName(StrEnum):
    ACCEPT = "accept"
    COUNTER = "counter"
    DECLINE = "decline"

    def __str__(self) -> str:
        return str(self.value)
