from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.shown_plan import ShownPlan

T = TypeVar("T", bound="Org")


@_attrs_define
class Org:
    """An organization, as its members see it.

    Attributes:
        created_at (datetime.datetime): When the organization was created.
        id (str): The identifier, `org_…`.
        is_waitlisted (bool): Whether the organization is on the waiting list.
        name (str): The organization's name.
        plan (ShownPlan):
    """

    created_at: datetime.datetime
    id: str
    is_waitlisted: bool
    name: str
    plan: ShownPlan
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        id = self.id

        is_waitlisted = self.is_waitlisted

        name = self.name

        plan = self.plan.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "created_at": created_at,
                "id": id,
                "is_waitlisted": is_waitlisted,
                "name": name,
                "plan": plan,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        id = d.pop("id")

        is_waitlisted = d.pop("is_waitlisted")

        name = d.pop("name")

        plan = ShownPlan(d.pop("plan"))

        org = cls(
            created_at=created_at,
            id=id,
            is_waitlisted=is_waitlisted,
            name=name,
            plan=plan,
        )

        org.additional_properties = d
        return org

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
