from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.run_resource import RunResource
from ..types import UNSET, Unset

T = TypeVar("T", bound="RunWrite")


@_attrs_define
class RunWrite:
    """One write of a run.

    Attributes:
        at (datetime.datetime): When it was written.
        operation (str): The `operationId` of the operation that wrote.
        resource_id (str): The identifier of what was written.
        resource_type (RunResource): The kind of a resource that a run wrote.
        undone_at (datetime.datetime | None | Unset): When the write was taken back. Null if it was not.
    """

    at: datetime.datetime
    operation: str
    resource_id: str
    resource_type: RunResource
    undone_at: datetime.datetime | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        operation = self.operation

        resource_id = self.resource_id

        resource_type = self.resource_type.value

        undone_at: None | str | Unset
        if isinstance(self.undone_at, Unset):
            undone_at = UNSET
        elif isinstance(self.undone_at, datetime.datetime):
            undone_at = self.undone_at.isoformat()
        else:
            undone_at = self.undone_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "operation": operation,
                "resource_id": resource_id,
                "resource_type": resource_type,
            }
        )
        if undone_at is not UNSET:
            field_dict["undone_at"] = undone_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        operation = d.pop("operation")

        resource_id = d.pop("resource_id")

        resource_type = RunResource(d.pop("resource_type"))

        def _parse_undone_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                undone_at_type_0 = datetime.datetime.fromisoformat(data)

                return undone_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        undone_at = _parse_undone_at(d.pop("undone_at", UNSET))

        run_write = cls(
            at=at,
            operation=operation,
            resource_id=resource_id,
            resource_type=resource_type,
            undone_at=undone_at,
        )

        run_write.additional_properties = d
        return run_write

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
