from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.sign_up_source_name import SignUpSourceName
from ..types import UNSET, Unset

T = TypeVar("T", bound="WaitlistEntry")


@_attrs_define
class WaitlistEntry:
    """An entry of the waiting list.

    Attributes:
        id (str): The waiting organization, `org_…`.
        is_waitlisted (bool): Whether the organization is still waiting.
        name (str): The organization's name.
        signup_source (SignUpSourceName):
        email (None | str | Unset): The organization's email address.
        waitlisted_at (datetime.datetime | None | Unset): When it joined the waiting list. Null once it is active.
    """

    id: str
    is_waitlisted: bool
    name: str
    signup_source: SignUpSourceName
    email: None | str | Unset = UNSET
    waitlisted_at: datetime.datetime | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        is_waitlisted = self.is_waitlisted

        name = self.name

        signup_source = self.signup_source.value

        email: None | str | Unset
        if isinstance(self.email, Unset):
            email = UNSET
        else:
            email = self.email

        waitlisted_at: None | str | Unset
        if isinstance(self.waitlisted_at, Unset):
            waitlisted_at = UNSET
        elif isinstance(self.waitlisted_at, datetime.datetime):
            waitlisted_at = self.waitlisted_at.isoformat()
        else:
            waitlisted_at = self.waitlisted_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "is_waitlisted": is_waitlisted,
                "name": name,
                "signup_source": signup_source,
            }
        )
        if email is not UNSET:
            field_dict["email"] = email
        if waitlisted_at is not UNSET:
            field_dict["waitlisted_at"] = waitlisted_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        is_waitlisted = d.pop("is_waitlisted")

        name = d.pop("name")

        signup_source = SignUpSourceName(d.pop("signup_source"))

        def _parse_email(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        email = _parse_email(d.pop("email", UNSET))

        def _parse_waitlisted_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                waitlisted_at_type_0 = datetime.datetime.fromisoformat(data)

                return waitlisted_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        waitlisted_at = _parse_waitlisted_at(d.pop("waitlisted_at", UNSET))

        waitlist_entry = cls(
            id=id,
            is_waitlisted=is_waitlisted,
            name=name,
            signup_source=signup_source,
            email=email,
            waitlisted_at=waitlisted_at,
        )

        waitlist_entry.additional_properties = d
        return waitlist_entry

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
