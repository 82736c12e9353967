from enum import StrEnum


class PolicyName(StrEnum):
    CONFIRMED = "confirmed"
    CONFIRMED_TENTATIVE = "confirmed_tentative"
    NONE = "none"

    def __str__(self) -> str:
        return str(self.value)
