from enum import StrEnum


class BookingStatus(StrEnum):
    CANCELLED = "cancelled"
    CONFIRMED = "confirmed"

    def __str__(self) -> str:
        return str(self.value)
