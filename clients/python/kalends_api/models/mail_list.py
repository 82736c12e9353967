from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.cursor_pagination import CursorPagination
    from ..models.sent_email import SentEmail


T = TypeVar("T", bound="MailList")


@_attrs_define
class MailList:
    """A page of an organization's emails, the newest first.

    Attributes:
        data (list[SentEmail]): The emails.
        pagination (CursorPagination): The position of the next page, in lists that are read from a cursor.
    """

    data: list[SentEmail]
    pagination: CursorPagination
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        pagination = self.pagination.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "data": data,
                "pagination": pagination,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.cursor_pagination import CursorPagination
        from ..models.sent_email import SentEmail

        d = dict(src_dict)
        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = SentEmail.from_dict(data_item_data)

            data.append(data_item)

        pagination = CursorPagination.from_dict(d.pop("pagination"))

        mail_list = cls(
            data=data,
            pagination=pagination,
        )

        mail_list.additional_properties = d
        return mail_list

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
