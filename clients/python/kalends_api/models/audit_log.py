from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.audit_entry import AuditEntry
    from ..models.cursor_pagination import CursorPagination


T = TypeVar("T", bound="AuditLog")


@_attrs_define
class AuditLog:
    """A page of the audit log, newest entry first.

    Attributes:
        data (list[AuditEntry]): The entries.
        pagination (CursorPagination): The position of the next page, in lists that are read from a cursor.
        range_clamped (bool): Whether `from` was before the oldest retained entry.
        retention_days (int | None | Unset): The number of days for which the plan retains entries. Null means forever.
    """

    data: list[AuditEntry]
    pagination: CursorPagination
    range_clamped: bool
    retention_days: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        pagination = self.pagination.to_dict()

        range_clamped = self.range_clamped

        retention_days: int | None | Unset
        if isinstance(self.retention_days, Unset):
            retention_days = UNSET
        else:
            retention_days = self.retention_days

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "data": data,
                "pagination": pagination,
                "range_clamped": range_clamped,
            }
        )
        if retention_days is not UNSET:
            field_dict["retention_days"] = retention_days

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.audit_entry import AuditEntry
        from ..models.cursor_pagination import CursorPagination

        d = dict(src_dict)
        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = AuditEntry.from_dict(data_item_data)

            data.append(data_item)

        pagination = CursorPagination.from_dict(d.pop("pagination"))

        range_clamped = d.pop("range_clamped")

        def _parse_retention_days(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        retention_days = _parse_retention_days(d.pop("retention_days", UNSET))

        audit_log = cls(
            data=data,
            pagination=pagination,
            range_clamped=range_clamped,
            retention_days=retention_days,
        )

        audit_log.additional_properties = d
        return audit_log

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
