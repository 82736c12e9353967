from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.org import Org
    from ..models.user import User


T = TypeVar("T", bound="SignedIn")


@_attrs_define
class SignedIn:
    """The answer to a sign-in.

    Attributes:
        org (Org): An organization, as its members see it.
        token (str): The session's token, which is also in the cookie. Clients without cookies send it as
            `Authorization: Bearer`.
        user (User): A user.
    """

    org: Org
    token: str
    user: User
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        org = self.org.to_dict()

        token = self.token

        user = self.user.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "org": org,
                "token": token,
                "user": user,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.org import Org
        from ..models.user import User

        d = dict(src_dict)
        org = Org.from_dict(d.pop("org"))

        token = d.pop("token")

        user = User.from_dict(d.pop("user"))

        signed_in = cls(
            org=org,
            token=token,
            user=user,
        )

        signed_in.additional_properties = d
        return signed_in

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
