from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Terms")


@_attrs_define
class Terms:
    """The terms in force.

    Attributes:
        effective_at (datetime.date): The date on which this version took effect.
        material (bool): Whether the change is material. If so, organizations that accepted another version are
            notified.
        url (str): The address of the text.
        version (str): An opaque version. Send it unchanged as `tos_version`.
    """

    effective_at: datetime.date
    material: bool
    url: str
    version: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        effective_at = self.effective_at.isoformat()

        material = self.material

        url = self.url

        version = self.version

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "effective_at": effective_at,
                "material": material,
                "url": url,
                "version": version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        effective_at = datetime.date.fromisoformat(d.pop("effective_at"))

        material = d.pop("material")

        url = d.pop("url")

        version = d.pop("version")

        terms = cls(
            effective_at=effective_at,
            material=material,
            url=url,
            version=version,
        )

        terms.additional_properties = d
        return terms

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
