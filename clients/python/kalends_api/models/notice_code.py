from enum import StrEnum


class NoticeCode(StrEnum):
    NO_CALENDAR = "no_calendar"
    NO_SLOT_LEFT = "no_slot_left"
    OFFERS_NIGHTS = "offers_nights"
    REPEATS_IN_UTC = "repeats_in_utc"
    SLOT_TAKEN = "slot_taken"
    TOO_FEW_ACCEPTS = "too_few_accepts"

    def __str__(self) -> str:
        return str(self.value)
