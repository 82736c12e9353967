from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="SignIn")


@_attrs_define
class SignIn:
    """The fields of a sign-in.

    Attributes:
        email (str): The address.
        password (str): The password.
        code (str | Unset): A code of your authenticator app, or a recovery code. It is needed if your second factor is
            on. Case, spaces and
            hyphens do not matter.
    """

    email: str
    password: str
    code: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        email = self.email

        password = self.password

        code = self.code

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "email": email,
                "password": password,
            }
        )
        if code is not UNSET:
            field_dict["code"] = code

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        email = d.pop("email")

        password = d.pop("password")

        code = d.pop("code", UNSET)

        sign_in = cls(
            email=email,
            password=password,
            code=code,
        )

        return sign_in
