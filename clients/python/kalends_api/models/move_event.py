from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="MoveEvent")


@_attrs_define
class MoveEvent:
    """The calendar to which an event moves.

    Attributes:
        calendar_id (str): A calendar of the same organization.
        if_free (bool | Unset): Whether to move the event only if nothing else blocks its time there. If something does,
            the answer is 409
            `slot_taken`. For a series, this is about its occurrences within a year.
    """

    calendar_id: str
    if_free: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        calendar_id = self.calendar_id

        if_free = self.if_free

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "calendar_id": calendar_id,
            }
        )
        if if_free is not UNSET:
            field_dict["if_free"] = if_free

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        calendar_id = d.pop("calendar_id")

        if_free = d.pop("if_free", UNSET)

        move_event = cls(
            calendar_id=calendar_id,
            if_free=if_free,
        )

        return move_event
