from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.approval import Approval


T = TypeVar("T", bound="ListApproval")


@_attrs_define
class ListApproval:
    """One page of a list.

    A page is at most 8 MiB. A page that would be larger ends
    early: `limit` is then the number of entries on it, `has_more` is true, and the next page begins at `offset` plus
    `limit`.

        Attributes:
            data (list[Approval]): The entries of this page.
            limit (int): The maximum number of entries per page. On a page that ended early, the number of entries on it.
            offset (int): The number of entries that were skipped.
            total (int): The number of entries that match the filter, over all pages.
            has_more (bool | Unset): True if the page ended early because it would have exceeded 8 MiB. Otherwise absent.
    """

    data: list[Approval]
    limit: int
    offset: int
    total: int
    has_more: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        limit = self.limit

        offset = self.offset

        total = self.total

        has_more = self.has_more

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "data": data,
                "limit": limit,
                "offset": offset,
                "total": total,
            }
        )
        if has_more is not UNSET:
            field_dict["has_more"] = has_more

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.approval import Approval

        d = dict(src_dict)
        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = Approval.from_dict(data_item_data)

            data.append(data_item)

        limit = d.pop("limit")

        offset = d.pop("offset")

        total = d.pop("total")

        has_more = d.pop("has_more", UNSET)

        list_approval = cls(
            data=data,
            limit=limit,
            offset=offset,
            total=total,
            has_more=has_more,
        )

        list_approval.additional_properties = d
        return list_approval

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
