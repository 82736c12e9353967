from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.availability_state import AvailabilityState

if TYPE_CHECKING:
    from ..models.reason import Reason


T = TypeVar("T", bound="Explanation")


@_attrs_define
class Explanation:
    """The reasons why a time is not offered.

    Attributes:
        availability_state (AvailabilityState): How complete and current the busy times behind an answer are.
        end (datetime.datetime): The end of the queried time, exclusive.
        has_more (bool): Whether there are more reasons. To see them, ask about a shorter time.
        offered (bool): Whether all of the time is free, so that it can be offered as a slot. If true, there are no
            reasons.
        reasons (list[Reason]): The reasons, sorted by start and then by calendar. At most 1,000.
        start (datetime.datetime): The start of the queried time.
        warnings (list[str]): Warnings about the answer.
    """

    availability_state: AvailabilityState
    end: datetime.datetime
    has_more: bool
    offered: bool
    reasons: list[Reason]
    start: datetime.datetime
    warnings: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        availability_state = self.availability_state.value

        end = self.end.isoformat()

        has_more = self.has_more

        offered = self.offered

        reasons = []
        for reasons_item_data in self.reasons:
            reasons_item = reasons_item_data.to_dict()
            reasons.append(reasons_item)

        start = self.start.isoformat()

        warnings = self.warnings

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "availability_state": availability_state,
                "end": end,
                "has_more": has_more,
                "offered": offered,
                "reasons": reasons,
                "start": start,
                "warnings": warnings,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.reason import Reason

        d = dict(src_dict)
        availability_state = AvailabilityState(d.pop("availability_state"))

        end = datetime.datetime.fromisoformat(d.pop("end"))

        has_more = d.pop("has_more")

        offered = d.pop("offered")

        reasons = []
        _reasons = d.pop("reasons")
        for reasons_item_data in _reasons:
            reasons_item = Reason.from_dict(reasons_item_data)

            reasons.append(reasons_item)

        start = datetime.datetime.fromisoformat(d.pop("start"))

        warnings = cast(list[str], d.pop("warnings"))

        explanation = cls(
            availability_state=availability_state,
            end=end,
            has_more=has_more,
            offered=offered,
            reasons=reasons,
            start=start,
            warnings=warnings,
        )

        explanation.additional_properties = d
        return explanation

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
