from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.revoked_status import RevokedStatus

T = TypeVar("T", bound="ClaimRevoked")


@_attrs_define
class ClaimRevoked:
    """The answer to a revocation.

    Attributes:
        claim_id (str): The identifier, `clm_…`.
        status (RevokedStatus):
    """

    claim_id: str
    status: RevokedStatus
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        claim_id = self.claim_id

        status = self.status.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "claim_id": claim_id,
                "status": status,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        claim_id = d.pop("claim_id")

        status = RevokedStatus(d.pop("status"))

        claim_revoked = cls(
            claim_id=claim_id,
            status=status,
        )

        claim_revoked.additional_properties = d
        return claim_revoked

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
