from enum import StrEnum


class PublicPlanName(StrEnum):
    CUSTOM = "custom"
    FREE = "free"
    PRO = "pro"

    def __str__(self) -> str:
        return str(self.value)
