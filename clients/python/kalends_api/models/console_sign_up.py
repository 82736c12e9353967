from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ConsoleSignUp")


@_attrs_define
class ConsoleSignUp:
    """The fields of a user's sign-up.

    Attributes:
        email (str): The address to sign in with.
        name (str): Your name, 1-100 characters. Must not be blank or contain NUL.
        password (str): The password: 10-128 characters of any kind.
        tos_version (str): The version of the current terms (`GET /v1/auth/terms/current`). Signing up accepts them.
        invitation_token (str | Unset): The token of an invitation that was mailed to the address. It proves the
            address. A server on which sign-up is
            not open may require it. Accept the invitation afterwards.
        org_name (None | str | Unset): The organization's name, 1-255 characters. Defaults to your name. Must not be
            blank or contain NUL.
    """

    email: str
    name: str
    password: str
    tos_version: str
    invitation_token: str | Unset = UNSET
    org_name: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        email = self.email

        name = self.name

        password = self.password

        tos_version = self.tos_version

        invitation_token = self.invitation_token

        org_name: None | str | Unset
        if isinstance(self.org_name, Unset):
            org_name = UNSET
        else:
            org_name = self.org_name

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "email": email,
                "name": name,
                "password": password,
                "tos_version": tos_version,
            }
        )
        if invitation_token is not UNSET:
            field_dict["invitation_token"] = invitation_token
        if org_name is not UNSET:
            field_dict["org_name"] = org_name

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        email = d.pop("email")

        name = d.pop("name")

        password = d.pop("password")

        tos_version = d.pop("tos_version")

        invitation_token = d.pop("invitation_token", UNSET)

        def _parse_org_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        org_name = _parse_org_name(d.pop("org_name", UNSET))

        console_sign_up = cls(
            email=email,
            name=name,
            password=password,
            tos_version=tos_version,
            invitation_token=invitation_token,
            org_name=org_name,
        )

        return console_sign_up
