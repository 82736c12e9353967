from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="AcceptTerms")


@_attrs_define
class AcceptTerms:
    """The terms to accept.

    Attributes:
        tos_version (str): The version of the current terms (`GET /v1/auth/terms/current`).
    """

    tos_version: str

    def to_dict(self) -> dict[str, Any]:
        tos_version = self.tos_version

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "tos_version": tos_version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        tos_version = d.pop("tos_version")

        accept_terms = cls(
            tos_version=tos_version,
        )

        return accept_terms
