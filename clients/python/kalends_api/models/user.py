from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="User")


@_attrs_define
class User:
    """A user.

    Attributes:
        created_at (datetime.datetime): When the user signed up.
        email (str): The email address.
        has_password (bool): Whether the user can sign in with a password.
        id (str): The identifier, `usr_…`.
        name (str): The user's name.
        second_factor (bool): Whether a sign-in with the password needs a code too.
        updated_at (datetime.datetime): When one of these fields or the password was last changed.
        email_verified_at (datetime.datetime | None | Unset): When the user proved that they receive mail at the
            address. Null until then.
    """

    created_at: datetime.datetime
    email: str
    has_password: bool
    id: str
    name: str
    second_factor: bool
    updated_at: datetime.datetime
    email_verified_at: datetime.datetime | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        email = self.email

        has_password = self.has_password

        id = self.id

        name = self.name

        second_factor = self.second_factor

        updated_at = self.updated_at.isoformat()

        email_verified_at: None | str | Unset
        if isinstance(self.email_verified_at, Unset):
            email_verified_at = UNSET
        elif isinstance(self.email_verified_at, datetime.datetime):
            email_verified_at = self.email_verified_at.isoformat()
        else:
            email_verified_at = self.email_verified_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "created_at": created_at,
                "email": email,
                "has_password": has_password,
                "id": id,
                "name": name,
                "second_factor": second_factor,
                "updated_at": updated_at,
            }
        )
        if email_verified_at is not UNSET:
            field_dict["email_verified_at"] = email_verified_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        email = d.pop("email")

        has_password = d.pop("has_password")

        id = d.pop("id")

        name = d.pop("name")

        second_factor = d.pop("second_factor")

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        def _parse_email_verified_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                email_verified_at_type_0 = datetime.datetime.fromisoformat(data)

                return email_verified_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        email_verified_at = _parse_email_verified_at(d.pop("email_verified_at", UNSET))

        user = cls(
            created_at=created_at,
            email=email,
            has_password=has_password,
            id=id,
            name=name,
            second_factor=second_factor,
            updated_at=updated_at,
            email_verified_at=email_verified_at,
        )

        user.additional_properties = d
        return user

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
