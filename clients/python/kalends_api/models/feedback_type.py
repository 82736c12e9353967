from enum import StrEnum


class FeedbackType(StrEnum):
    BUG = "bug"
    FEATURE = "feature"
    FRICTION = "friction"

    def __str__(self) -> str:
        return str(self.value)
