from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.run_resource import RunResource
from ..models.undo_obstacle import UndoObstacle

T = TypeVar("T", bound="InTheWay")


@_attrs_define
class InTheWay:
    """A resource that keeps a run from being taken back.

    Attributes:
        reason (UndoObstacle): Why a write cannot be taken back.
        resource_id (str): Its identifier.
        resource_type (RunResource): The kind of a resource that a run wrote.
    """

    reason: UndoObstacle
    resource_id: str
    resource_type: RunResource
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason.value

        resource_id = self.resource_id

        resource_type = self.resource_type.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "reason": reason,
                "resource_id": resource_id,
                "resource_type": resource_type,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        reason = UndoObstacle(d.pop("reason"))

        resource_id = d.pop("resource_id")

        resource_type = RunResource(d.pop("resource_type"))

        in_the_way = cls(
            reason=reason,
            resource_id=resource_id,
            resource_type=resource_type,
        )

        in_the_way.additional_properties = d
        return in_the_way

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
