from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="DeliveryStats")


@_attrs_define
class DeliveryStats:
    """The number of stored deliveries per status.

    Attributes:
        delivered (int): Accepted by the receiver.
        failed (int): All attempts failed.
        pending (int): Waiting to be sent or sent again.
        skipped (int): Never sent.
    """

    delivered: int
    failed: int
    pending: int
    skipped: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        delivered = self.delivered

        failed = self.failed

        pending = self.pending

        skipped = self.skipped

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "delivered": delivered,
                "failed": failed,
                "pending": pending,
                "skipped": skipped,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        delivered = d.pop("delivered")

        failed = d.pop("failed")

        pending = d.pop("pending")

        skipped = d.pop("skipped")

        delivery_stats = cls(
            delivered=delivered,
            failed=failed,
            pending=pending,
            skipped=skipped,
        )

        delivery_stats.additional_properties = d
        return delivery_stats

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
