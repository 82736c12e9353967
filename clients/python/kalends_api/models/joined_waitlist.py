from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.waitlist_entry import WaitlistEntry


T = TypeVar("T", bound="JoinedWaitlist")


@_attrs_define
class JoinedWaitlist:
    """The answer to a request to join, and to an activation.

    Attributes:
        data (WaitlistEntry): An entry of the waiting list.
        message (str): What happens next.
    """

    data: WaitlistEntry
    message: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        data = self.data.to_dict()

        message = self.message

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "data": data,
                "message": message,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.waitlist_entry import WaitlistEntry

        d = dict(src_dict)
        data = WaitlistEntry.from_dict(d.pop("data"))

        message = d.pop("message")

        joined_waitlist = cls(
            data=data,
            message=message,
        )

        joined_waitlist.additional_properties = d
        return joined_waitlist

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
