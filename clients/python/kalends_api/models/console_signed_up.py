from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.org import Org
    from ..models.user import User


T = TypeVar("T", bound="ConsoleSignedUp")


@_attrs_define
class ConsoleSignedUp:
    """The answer to a user's sign-up. The key is shown only in this answer.

    Attributes:
        api_key (str): The organization's API key.
        org (Org): An organization, as its members see it.
        user (User): A user.
    """

    api_key: str
    org: Org
    user: User
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        api_key = self.api_key

        org = self.org.to_dict()

        user = self.user.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "api_key": api_key,
                "org": org,
                "user": user,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.org import Org
        from ..models.user import User

        d = dict(src_dict)
        api_key = d.pop("api_key")

        org = Org.from_dict(d.pop("org"))

        user = User.from_dict(d.pop("user"))

        console_signed_up = cls(
            api_key=api_key,
            org=org,
            user=user,
        )

        console_signed_up.additional_properties = d
        return console_signed_up

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
