from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.undone_resource import UndoneResource


T = TypeVar("T", bound="UndoneRun")


@_attrs_define
class UndoneRun:
    """The outcome of an undo.

    Attributes:
        name (str): The name of the run.
        undone (list[UndoneResource]): The resources that changed. Empty if there was nothing to take back.
    """

    name: str
    undone: list[UndoneResource]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        undone = []
        for undone_item_data in self.undone:
            undone_item = undone_item_data.to_dict()
            undone.append(undone_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "undone": undone,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.undone_resource import UndoneResource

        d = dict(src_dict)
        name = d.pop("name")

        undone = []
        _undone = d.pop("undone")
        for undone_item_data in _undone:
            undone_item = UndoneResource.from_dict(undone_item_data)

            undone.append(undone_item)

        undone_run = cls(
            name=name,
            undone=undone,
        )

        undone_run.additional_properties = d
        return undone_run

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
