from enum import StrEnum


class ResolutionReason(StrEnum):
    ALL_DECLINED = "all_declined"

    def __str__(self) -> str:
        return str(self.value)
