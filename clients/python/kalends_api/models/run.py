from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.run_write import RunWrite


T = TypeVar("T", bound="Run")


@_attrs_define
class Run:
    """A run with its writes.

    Attributes:
        name (str): The name.
        writes (list[RunWrite]): The writes in order, at most 500. They are kept for 7 days.
    """

    name: str
    writes: list[RunWrite]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        writes = []
        for writes_item_data in self.writes:
            writes_item = writes_item_data.to_dict()
            writes.append(writes_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "writes": writes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.run_write import RunWrite

        d = dict(src_dict)
        name = d.pop("name")

        writes = []
        _writes = d.pop("writes")
        for writes_item_data in _writes:
            writes_item = RunWrite.from_dict(writes_item_data)

            writes.append(writes_item)

        run = cls(
            name=name,
            writes=writes,
        )

        run.additional_properties = d
        return run

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
