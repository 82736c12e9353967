from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.date_hours import DateHours
    from ..models.working_hours import WorkingHours


T = TypeVar("T", bound="AvailabilityRules")


@_attrs_define
class AvailabilityRules:
    """The availability rules of a calendar.

    Attributes:
        buffer_after_minutes (int): Minutes kept free after everything that blocks.
        buffer_before_minutes (int): Minutes kept free before everything that blocks.
        calendar_id (str): The calendar, `cal_…`.
        created_at (datetime.datetime): When the rules were created. Replacing them does not change this time.
        id (str): The identifier, `avr_…`.
        overrides (list[DateHours]): Dates with their own opening hours, in order.
        timezone (str): The IANA time zone of the hours and dates.
        updated_at (datetime.datetime): When the rules were last changed.
        working_hours (None | Unset | WorkingHours):
    """

    buffer_after_minutes: int
    buffer_before_minutes: int
    calendar_id: str
    created_at: datetime.datetime
    id: str
    overrides: list[DateHours]
    timezone: str
    updated_at: datetime.datetime
    working_hours: None | Unset | WorkingHours = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.working_hours import WorkingHours

        buffer_after_minutes = self.buffer_after_minutes

        buffer_before_minutes = self.buffer_before_minutes

        calendar_id = self.calendar_id

        created_at = self.created_at.isoformat()

        id = self.id

        overrides = []
        for overrides_item_data in self.overrides:
            overrides_item = overrides_item_data.to_dict()
            overrides.append(overrides_item)

        timezone = self.timezone

        updated_at = self.updated_at.isoformat()

        working_hours: dict[str, Any] | None | Unset
        if isinstance(self.working_hours, Unset):
            working_hours = UNSET
        elif isinstance(self.working_hours, WorkingHours):
            working_hours = self.working_hours.to_dict()
        else:
            working_hours = self.working_hours

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "buffer_after_minutes": buffer_after_minutes,
                "buffer_before_minutes": buffer_before_minutes,
                "calendar_id": calendar_id,
                "created_at": created_at,
                "id": id,
                "overrides": overrides,
                "timezone": timezone,
                "updated_at": updated_at,
            }
        )
        if working_hours is not UNSET:
            field_dict["working_hours"] = working_hours

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.date_hours import DateHours
        from ..models.working_hours import WorkingHours

        d = dict(src_dict)
        buffer_after_minutes = d.pop("buffer_after_minutes")

        buffer_before_minutes = d.pop("buffer_before_minutes")

        calendar_id = d.pop("calendar_id")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        id = d.pop("id")

        overrides = []
        _overrides = d.pop("overrides")
        for overrides_item_data in _overrides:
            overrides_item = DateHours.from_dict(overrides_item_data)

            overrides.append(overrides_item)

        timezone = d.pop("timezone")

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        def _parse_working_hours(data: object) -> None | Unset | WorkingHours:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                working_hours_type_0 = WorkingHours.from_dict(data)

                return working_hours_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | WorkingHours, data)

        working_hours = _parse_working_hours(d.pop("working_hours", UNSET))

        availability_rules = cls(
            buffer_after_minutes=buffer_after_minutes,
            buffer_before_minutes=buffer_before_minutes,
            calendar_id=calendar_id,
            created_at=created_at,
            id=id,
            overrides=overrides,
            timezone=timezone,
            updated_at=updated_at,
            working_hours=working_hours,
        )

        availability_rules.additional_properties = d
        return availability_rules

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
