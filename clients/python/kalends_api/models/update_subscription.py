from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.wanted_subscription_status import WantedSubscriptionStatus
from ..types import UNSET, Unset

T = TypeVar("T", bound="UpdateSubscription")


@_attrs_define
class UpdateSubscription:
    """The fields of a subscription that a PATCH can change. At least one is required.

    Attributes:
        busy_only (bool | Unset): Whether to import only the times of the feed's events. A change makes the subscription
            due at once. The next sync
            drops the stored texts, or imports them again.
        label (None | str | Unset): A label, 1-255 characters. Null clears it. Must not be blank or contain NUL.
        status (WantedSubscriptionStatus | Unset):
        url (str | Unset): An https URL on the public internet without credentials, at most 2,048 characters long.
    """

    busy_only: bool | Unset = UNSET
    label: None | str | Unset = UNSET
    status: WantedSubscriptionStatus | Unset = UNSET
    url: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        busy_only = self.busy_only

        label: None | str | Unset
        if isinstance(self.label, Unset):
            label = UNSET
        else:
            label = self.label

        status: str | Unset = UNSET
        if not isinstance(self.status, Unset):
            status = self.status.value

        url = self.url

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if busy_only is not UNSET:
            field_dict["busy_only"] = busy_only
        if label is not UNSET:
            field_dict["label"] = label
        if status is not UNSET:
            field_dict["status"] = status
        if url is not UNSET:
            field_dict["url"] = url

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        busy_only = d.pop("busy_only", UNSET)

        def _parse_label(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        label = _parse_label(d.pop("label", UNSET))

        _status = d.pop("status", UNSET)
        status: WantedSubscriptionStatus | Unset
        if isinstance(_status, Unset):
            status = UNSET
        else:
            status = WantedSubscriptionStatus(_status)

        url = d.pop("url", UNSET)

        update_subscription = cls(
            busy_only=busy_only,
            label=label,
            status=status,
            url=url,
        )

        return update_subscription
