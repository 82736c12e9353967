from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ResetPassword")


@_attrs_define
class ResetPassword:
    """The fields of a password reset.

    Attributes:
        password (str): Your new password: 10-128 characters of any kind.
        token (str): The token from the email.
    """

    password: str
    token: str

    def to_dict(self) -> dict[str, Any]:
        password = self.password

        token = self.token

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "password": password,
                "token": token,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        password = d.pop("password")

        token = d.pop("token")

        reset_password = cls(
            password=password,
            token=token,
        )

        return reset_password
