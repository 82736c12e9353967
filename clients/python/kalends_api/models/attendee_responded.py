from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.attendee import Attendee


T = TypeVar("T", bound="AttendeeResponded")


@_attrs_define
class AttendeeResponded:
    """The payload of `event.attendee_responded`.

    Attributes:
        attendee (Attendee): An attendee of an event.
        calendar_id (str): Its calendar, `cal_…`.
        event_id (str): The event, `evt_…`. For a changed occurrence of a series, `<series>_<start as
            YYYYMMDDTHHMMSSZ>`.
        note (str | Unset): What the attendee wrote. Absent if there is nothing.
    """

    attendee: Attendee
    calendar_id: str
    event_id: str
    note: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        attendee = self.attendee.to_dict()

        calendar_id = self.calendar_id

        event_id = self.event_id

        note = self.note

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "attendee": attendee,
                "calendar_id": calendar_id,
                "event_id": event_id,
            }
        )
        if note is not UNSET:
            field_dict["note"] = note

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.attendee import Attendee

        d = dict(src_dict)
        attendee = Attendee.from_dict(d.pop("attendee"))

        calendar_id = d.pop("calendar_id")

        event_id = d.pop("event_id")

        note = d.pop("note", UNSET)

        attendee_responded = cls(
            attendee=attendee,
            calendar_id=calendar_id,
            event_id=event_id,
            note=note,
        )

        attendee_responded.additional_properties = d
        return attendee_responded

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
