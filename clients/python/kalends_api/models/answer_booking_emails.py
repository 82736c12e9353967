from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="AnswerBookingEmails")


@_attrs_define
class AnswerBookingEmails:
    """The answer of an address that was asked whether it wants emails about the bookings of a page.

    Attributes:
        agrees (bool): Whether the emails may be sent. A later answer replaces an earlier one.
    """

    agrees: bool

    def to_dict(self) -> dict[str, Any]:
        agrees = self.agrees

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "agrees": agrees,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        agrees = d.pop("agrees")

        answer_booking_emails = cls(
            agrees=agrees,
        )

        return answer_booking_emails
