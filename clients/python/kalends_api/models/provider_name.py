from enum import StrEnum


class ProviderName(StrEnum):
    CALDAV = "caldav"
    EXAMPLE = "example"
    GOOGLE = "google"
    MICROSOFT = "microsoft"

    def __str__(self) -> str:
        return str(self.value)
