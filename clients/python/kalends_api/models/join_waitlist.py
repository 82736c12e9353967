from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="JoinWaitlist")


@_attrs_define
class JoinWaitlist:
    """The fields of a request to join the waiting list.

    Attributes:
        email (str): The address that is notified when the account is activated.
        name (None | str | Unset): A name, 2-100 characters. Defaults to the part of the address before the @. Must not
            be blank or contain NUL.
        tos_version (None | str | Unset): The version of the current terms (`GET /v1/auth/terms/current`), to accept
            them when joining.
    """

    email: str
    name: None | str | Unset = UNSET
    tos_version: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        email = self.email

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        tos_version: None | str | Unset
        if isinstance(self.tos_version, Unset):
            tos_version = UNSET
        else:
            tos_version = self.tos_version

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "email": email,
            }
        )
        if name is not UNSET:
            field_dict["name"] = name
        if tos_version is not UNSET:
            field_dict["tos_version"] = tos_version

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        email = d.pop("email")

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        def _parse_tos_version(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        tos_version = _parse_tos_version(d.pop("tos_version", UNSET))

        join_waitlist = cls(
            email=email,
            name=name,
            tos_version=tos_version,
        )

        return join_waitlist
