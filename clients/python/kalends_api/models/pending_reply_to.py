from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PendingReplyTo")


@_attrs_define
class PendingReplyTo:
    """An address that was asked whether replies may go to it.

    Attributes:
        asked_at (datetime.datetime): When it was asked.
        email (str): The address.
        expires_at (datetime.datetime): Until when it can agree.
    """

    asked_at: datetime.datetime
    email: str
    expires_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        asked_at = self.asked_at.isoformat()

        email = self.email

        expires_at = self.expires_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "asked_at": asked_at,
                "email": email,
                "expires_at": expires_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        asked_at = datetime.datetime.fromisoformat(d.pop("asked_at"))

        email = d.pop("email")

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        pending_reply_to = cls(
            asked_at=asked_at,
            email=email,
            expires_at=expires_at,
        )

        pending_reply_to.additional_properties = d
        return pending_reply_to

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
