from enum import StrEnum


class QuestionTypeName(StrEnum):
    CHECKBOX = "checkbox"
    PHONE = "phone"
    SELECT = "select"
    TEXT = "text"
    TEXTAREA = "textarea"

    def __str__(self) -> str:
        return str(self.value)
