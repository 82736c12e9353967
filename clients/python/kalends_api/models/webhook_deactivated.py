from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.deactivation_reason import DeactivationReason
from ..models.event_name import EventName
from ..types import UNSET, Unset

T = TypeVar("T", bound="WebhookDeactivated")


@_attrs_define
class WebhookDeactivated:
    """The payload of `webhook.deactivated`.

    Attributes:
        active (bool): Whether the endpoint receives messages.
        created_at (datetime.datetime): When the endpoint was created.
        events (list[EventName]): The event types that it receives. `*` alone means all of them.
        id (str): The identifier, `whk_…`.
        updated_at (datetime.datetime): When the endpoint was last changed.
        url (str): The address that messages are posted to.
        reason (DeactivationReason):
        deactivated_reason (DeactivationReason | None | Unset):
    """

    active: bool
    created_at: datetime.datetime
    events: list[EventName]
    id: str
    updated_at: datetime.datetime
    url: str
    reason: DeactivationReason
    deactivated_reason: DeactivationReason | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        active = self.active

        created_at = self.created_at.isoformat()

        events = []
        for events_item_data in self.events:
            events_item = events_item_data.value
            events.append(events_item)

        id = self.id

        updated_at = self.updated_at.isoformat()

        url = self.url

        reason = self.reason.value

        deactivated_reason: None | str | Unset
        if isinstance(self.deactivated_reason, Unset):
            deactivated_reason = UNSET
        elif isinstance(self.deactivated_reason, DeactivationReason):
            deactivated_reason = self.deactivated_reason.value
        else:
            deactivated_reason = self.deactivated_reason

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "active": active,
                "created_at": created_at,
                "events": events,
                "id": id,
                "updated_at": updated_at,
                "url": url,
                "reason": reason,
            }
        )
        if deactivated_reason is not UNSET:
            field_dict["deactivated_reason"] = deactivated_reason

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        active = d.pop("active")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        events = []
        _events = d.pop("events")
        for events_item_data in _events:
            events_item = EventName(events_item_data)

            events.append(events_item)

        id = d.pop("id")

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        url = d.pop("url")

        reason = DeactivationReason(d.pop("reason"))

        def _parse_deactivated_reason(
            data: object,
        ) -> DeactivationReason | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                deactivated_reason_type_0 = DeactivationReason(data)

                return deactivated_reason_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DeactivationReason | None | Unset, data)

        deactivated_reason = _parse_deactivated_reason(
            d.pop("deactivated_reason", UNSET)
        )

        webhook_deactivated = cls(
            active=active,
            created_at=created_at,
            events=events,
            id=id,
            updated_at=updated_at,
            url=url,
            reason=reason,
            deactivated_reason=deactivated_reason,
        )

        webhook_deactivated.additional_properties = d
        return webhook_deactivated

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
