from enum import StrEnum


class ProposalCancelReason(StrEnum):
    ALL_DECLINED = "all_declined"
    ORGANIZER_CANCELLED = "organizer_cancelled"

    def __str__(self) -> str:
        return str(self.value)
