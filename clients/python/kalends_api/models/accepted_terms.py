from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AcceptedTerms")


@_attrs_define
class AcceptedTerms:
    """The accepted version, and when it was accepted.

    Attributes:
        accepted_terms_at (datetime.datetime): When the terms were accepted.
        accepted_terms_version (str): The version of the terms.
    """

    accepted_terms_at: datetime.datetime
    accepted_terms_version: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        accepted_terms_at = self.accepted_terms_at.isoformat()

        accepted_terms_version = self.accepted_terms_version

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "accepted_terms_at": accepted_terms_at,
                "accepted_terms_version": accepted_terms_version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        accepted_terms_at = datetime.datetime.fromisoformat(d.pop("accepted_terms_at"))

        accepted_terms_version = d.pop("accepted_terms_version")

        accepted_terms = cls(
            accepted_terms_at=accepted_terms_at,
            accepted_terms_version=accepted_terms_version,
        )

        accepted_terms.additional_properties = d
        return accepted_terms

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
