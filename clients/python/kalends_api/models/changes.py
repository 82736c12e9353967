from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.deleted import Deleted
    from ..models.event import Event


T = TypeVar("T", bound="Changes")


@_attrs_define
class Changes:
    """What changed on a calendar since a token was issued.

    Attributes:
        data (list[Deleted | Event]): The changes. Apply them in this order.
        has_more (bool): Whether more changes are available already.
        next_ (str): The token to continue with: send it as `since` in the next request, now or later.
    """

    data: list[Deleted | Event]
    has_more: bool
    next_: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.event import Event

        data = []
        for data_item_data in self.data:
            data_item: dict[str, Any]
            if isinstance(data_item_data, Event):
                data_item = data_item_data.to_dict()
            else:
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
        from ..models.deleted import Deleted
        from ..models.event import Event

        d = dict(src_dict)
        data = []
        _data = d.pop("data")
        for data_item_data in _data:

            def _parse_data_item(data: object) -> Deleted | Event:
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    componentsschemas_change_type_0 = Event.from_dict(data)

                    return componentsschemas_change_type_0
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_change_type_1 = Deleted.from_dict(data)

                return componentsschemas_change_type_1

            data_item = _parse_data_item(data_item_data)

            data.append(data_item)

        has_more = d.pop("has_more")

        next_ = d.pop("next")

        changes = cls(
            data=data,
            has_more=has_more,
            next_=next_,
        )

        changes.additional_properties = d
        return changes

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
