from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.reply_name import ReplyName
from ..types import UNSET, Unset

T = TypeVar("T", bound="SubmitReply")


@_attrs_define
class SubmitReply:
    """A reply to an invitation.

    Attributes:
        status (ReplyName):
        note (None | str | Unset): A note for the organizer, of at most 500 characters.
    """

    status: ReplyName
    note: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        status = self.status.value

        note: None | str | Unset
        if isinstance(self.note, Unset):
            note = UNSET
        else:
            note = self.note

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "status": status,
            }
        )
        if note is not UNSET:
            field_dict["note"] = note

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        status = ReplyName(d.pop("status"))

        def _parse_note(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        note = _parse_note(d.pop("note", UNSET))

        submit_reply = cls(
            status=status,
            note=note,
        )

        return submit_reply
