from enum import StrEnum


class ReasonKind(StrEnum):
    BUFFER = "buffer"
    EVENT = "event"
    EXTERNAL_EVENT = "external_event"
    HOLD = "hold"
    HUMAN_BUSY = "human_busy"
    OUTSIDE_RANGE = "outside_range"
    OUTSIDE_WORKING_HOURS = "outside_working_hours"
    OVERRIDE = "override"
    RESERVATION = "reservation"

    def __str__(self) -> str:
        return str(self.value)
