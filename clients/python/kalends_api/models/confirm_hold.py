from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ConfirmHold")


@_attrs_define
class ConfirmHold:
    """What the confirmation of a hold, or of a hold set, depends on.

    Attributes:
        if_as_of (None | str | Unset): The `as_of` of an availability answer. It works as in the creation of an event.
            The hold itself and the other
            events of its hold set do not count as changes.
    """

    if_as_of: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        if_as_of: None | str | Unset
        if isinstance(self.if_as_of, Unset):
            if_as_of = UNSET
        else:
            if_as_of = self.if_as_of

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if if_as_of is not UNSET:
            field_dict["if_as_of"] = if_as_of

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_if_as_of(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        if_as_of = _parse_if_as_of(d.pop("if_as_of", UNSET))

        confirm_hold = cls(
            if_as_of=if_as_of,
        )

        return confirm_hold
