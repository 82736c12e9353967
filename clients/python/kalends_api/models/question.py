from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.question_type_name import QuestionTypeName
from ..types import UNSET, Unset

T = TypeVar("T", bound="Question")


@_attrs_define
class Question:
    """A question to guests.

    Attributes:
        id (str): Names the answer: 1-40 of `a-z`, `0-9`, `_` and `-`. No two questions of a page have the same.
        label (str): The question as guests read it, on one line. Must not be blank or contain NUL.
        type_ (QuestionTypeName):
        options (list[str] | Unset): What can be chosen, for `select` only: 1-50 options of up to 100 characters.
        required (bool | Unset): Whether nobody can book without an answer. A checkbox that is required must be checked.
            Defaults to false.
    """

    id: str
    label: str
    type_: QuestionTypeName
    options: list[str] | Unset = UNSET
    required: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        label = self.label

        type_ = self.type_.value

        options: list[str] | Unset = UNSET
        if not isinstance(self.options, Unset):
            options = self.options

        required = self.required

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "label": label,
                "type": type_,
            }
        )
        if options is not UNSET:
            field_dict["options"] = options
        if required is not UNSET:
            field_dict["required"] = required

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        label = d.pop("label")

        type_ = QuestionTypeName(d.pop("type"))

        options = cast(list[str], d.pop("options", UNSET))

        required = d.pop("required", UNSET)

        question = cls(
            id=id,
            label=label,
            type_=type_,
            options=options,
            required=required,
        )

        return question
