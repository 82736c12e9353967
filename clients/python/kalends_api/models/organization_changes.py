from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.organization_change import OrganizationChange


T = TypeVar("T", bound="OrganizationChanges")


@_attrs_define
class OrganizationChanges:
    """A page of an organization's changes, the oldest first.

    Attributes:
        data (list[OrganizationChange]): The changes, in the order in which they happened. All readers get the same
            order.
        has_more (bool): Whether there are more changes already. With `types`, a page may have no entries although there
            are more.
        next_ (str): The token to continue with: send it as `since` in the next request, now or later.
    """

    data: list[OrganizationChange]
    has_more: bool
    next_: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        has_more = self.has_more

        next_ = self.next_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "data": data,
                "has_more": has_more,
                "next": next_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.organization_change import OrganizationChange

        d = dict(src_dict)
        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = OrganizationChange.from_dict(data_item_data)

            data.append(data_item)

        has_more = d.pop("has_more")

        next_ = d.pop("next")

        organization_changes = cls(
            data=data,
            has_more=has_more,
            next_=next_,
        )

        organization_changes.additional_properties = d
        return organization_changes

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
