from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.event_status import EventStatus
from ..types import UNSET, Unset

T = TypeVar("T", bound="GuestEvent")


@_attrs_define
class GuestEvent:
    """The part of an event that its guest sees.

    Attributes:
        end_time (datetime.datetime): The end, exclusive.
        id (str): The identifier, `evt_…`.
        start_time (datetime.datetime): The start.
        status (EventStatus): The status of an event.
        title (str): The event's title.
        conference_url (str | Unset): The call in which it takes place, an https URL. Absent if it is not set.
        location (str | Unset): Where it takes place. Absent if it is not set.
    """

    end_time: datetime.datetime
    id: str
    start_time: datetime.datetime
    status: EventStatus
    title: str
    conference_url: str | Unset = UNSET
    location: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        end_time = self.end_time.isoformat()

        id = self.id

        start_time = self.start_time.isoformat()

        status = self.status.value

        title = self.title

        conference_url = self.conference_url

        location = self.location

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "end_time": end_time,
                "id": id,
                "start_time": start_time,
                "status": status,
                "title": title,
            }
        )
        if conference_url is not UNSET:
            field_dict["conference_url"] = conference_url
        if location is not UNSET:
            field_dict["location"] = location

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        end_time = datetime.datetime.fromisoformat(d.pop("end_time"))

        id = d.pop("id")

        start_time = datetime.datetime.fromisoformat(d.pop("start_time"))

        status = EventStatus(d.pop("status"))

        title = d.pop("title")

        conference_url = d.pop("conference_url", UNSET)

        location = d.pop("location", UNSET)

        guest_event = cls(
            end_time=end_time,
            id=id,
            start_time=start_time,
            status=status,
            title=title,
            conference_url=conference_url,
            location=location,
        )

        guest_event.additional_properties = d
        return guest_event

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
