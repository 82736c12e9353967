from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="PutReplyTo")


@_attrs_define
class PutReplyTo:
    """The address for replies.

    Attributes:
        email (str): The address. Unless it has agreed already, it gets an email with a link to agree.
    """

    email: str

    def to_dict(self) -> dict[str, Any]:
        email = self.email

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "email": email,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        email = d.pop("email")

        put_reply_to = cls(
            email=email,
        )

        return put_reply_to
