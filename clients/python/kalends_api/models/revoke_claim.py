from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="RevokeClaim")


@_attrs_define
class RevokeClaim:
    """The token that revokes a held claim.

    Attributes:
        revocation_token (str): The token from the email.
    """

    revocation_token: str

    def to_dict(self) -> dict[str, Any]:
        revocation_token = self.revocation_token

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "revocation_token": revocation_token,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        revocation_token = d.pop("revocation_token")

        revoke_claim = cls(
            revocation_token=revocation_token,
        )

        return revoke_claim
