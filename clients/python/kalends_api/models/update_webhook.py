from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.event_name import EventName
from ..types import UNSET, Unset

T = TypeVar("T", bound="UpdateWebhook")


@_attrs_define
class UpdateWebhook:
    """The fields of a webhook endpoint that a PATCH can change. At least one is required.

    Attributes:
        active (bool | Unset): False pauses the endpoint. True activates it, whatever deactivated it.
        events (list[EventName] | Unset): Replaces the event types.
        url (str | Unset): An https URL on the public internet without credentials, at most 2,048 characters long.
    """

    active: bool | Unset = UNSET
    events: list[EventName] | Unset = UNSET
    url: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        active = self.active

        events: list[str] | Unset = UNSET
        if not isinstance(self.events, Unset):
            events = []
            for events_item_data in self.events:
                events_item = events_item_data.value
                events.append(events_item)

        url = self.url

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if active is not UNSET:
            field_dict["active"] = active
        if events is not UNSET:
            field_dict["events"] = events
        if url is not UNSET:
            field_dict["url"] = url

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        active = d.pop("active", UNSET)

        _events = d.pop("events", UNSET)
        events: list[EventName] | Unset = UNSET
        if _events is not UNSET:
            events = []
            for events_item_data in _events:
                events_item = EventName(events_item_data)

                events.append(events_item)

        url = d.pop("url", UNSET)

        update_webhook = cls(
            active=active,
            events=events,
            url=url,
        )

        return update_webhook
