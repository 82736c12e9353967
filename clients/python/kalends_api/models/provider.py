from enum import StrEnum


class Provider(StrEnum):
    APPLE = "apple"
    GOOGLE = "google"
    MICROSOFT = "microsoft"

    def __str__(self) -> str:
        return str(self.value)
