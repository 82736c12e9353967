from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Verify")


@_attrs_define
class Verify:
    """A verification code.

    Attributes:
        otp (str): The six digits from the email.
    """

    otp: str

    def to_dict(self) -> dict[str, Any]:
        otp = self.otp

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "otp": otp,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        otp = d.pop("otp")

        verify = cls(
            otp=otp,
        )

        return verify
