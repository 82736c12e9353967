from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.event_name import EventName

T = TypeVar("T", bound="CreateWebhook")


@_attrs_define
class CreateWebhook:
    """The fields of a new webhook endpoint.

    Attributes:
        events (list[EventName]): The event types to receive, at least one. `*` means all of them.
        url (str): An https URL on the public internet without credentials, at most 2,048 characters long.
    """

    events: list[EventName]
    url: str

    def to_dict(self) -> dict[str, Any]:
        events = []
        for events_item_data in self.events:
            events_item = events_item_data.value
            events.append(events_item)

        url = self.url

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "events": events,
                "url": url,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        events = []
        _events = d.pop("events")
        for events_item_data in _events:
            events_item = EventName(events_item_data)

            events.append(events_item)

        url = d.pop("url")

        create_webhook = cls(
            events=events,
            url=url,
        )

        return create_webhook
