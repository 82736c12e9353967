from enum import StrEnum


class ConsentName(StrEnum):
    AGREED = "agreed"
    ASKED = "asked"
    MEMBER = "member"
    REFUSED = "refused"

    def __str__(self) -> str:
        return str(self.value)
