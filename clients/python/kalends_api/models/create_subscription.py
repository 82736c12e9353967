from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CreateSubscription")


@_attrs_define
class CreateSubscription:
    """The fields of a new subscription.

    Attributes:
        calendar_id (str): A calendar that an agent owns, `cal_…`.
        url (str): An https URL on the public internet without credentials, at most 2,048 characters long.
        busy_only (bool | Unset): Whether to import only the times of the feed's events. Titles, descriptions, locations
            and all other texts are
            dropped when the feed is read, and are never stored. Each event has the title `Busy`.
        label (None | str | Unset): A label, 1-255 characters. Must not be blank or contain NUL.
    """

    calendar_id: str
    url: str
    busy_only: bool | Unset = UNSET
    label: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        calendar_id = self.calendar_id

        url = self.url

        busy_only = self.busy_only

        label: None | str | Unset
        if isinstance(self.label, Unset):
            label = UNSET
        else:
            label = self.label

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "calendar_id": calendar_id,
                "url": url,
            }
        )
        if busy_only is not UNSET:
            field_dict["busy_only"] = busy_only
        if label is not UNSET:
            field_dict["label"] = label

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        calendar_id = d.pop("calendar_id")

        url = d.pop("url")

        busy_only = d.pop("busy_only", UNSET)

        def _parse_label(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        label = _parse_label(d.pop("label", UNSET))

        create_subscription = cls(
            calendar_id=calendar_id,
            url=url,
            busy_only=busy_only,
            label=label,
        )

        return create_subscription
