from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.date_hours import DateHours
    from ..models.working_hours import WorkingHours


T = TypeVar("T", bound="PutAvailabilityRules")


@_attrs_define
class PutAvailabilityRules:
    """The complete rules of a calendar. A field that is left out gets its default value, whatever it was before.

    Attributes:
        buffer_after_minutes (int | None | Unset): Minutes to keep free after everything that blocks. Default: 0.
        buffer_before_minutes (int | None | Unset): Minutes to keep free before everything that blocks. Default: 0.
        overrides (list[DateHours] | None | Unset): Dates with their own opening hours, without duplicates.
        timezone (None | str | Unset): The IANA time zone of the hours and dates. Defaults to the calendar's zone.
        working_hours (None | Unset | WorkingHours):
    """

    buffer_after_minutes: int | None | Unset = 0
    buffer_before_minutes: int | None | Unset = 0
    overrides: list[DateHours] | None | Unset = UNSET
    timezone: None | str | Unset = UNSET
    working_hours: None | Unset | WorkingHours = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.working_hours import WorkingHours

        buffer_after_minutes: int | None | Unset
        if isinstance(self.buffer_after_minutes, Unset):
            buffer_after_minutes = UNSET
        else:
            buffer_after_minutes = self.buffer_after_minutes

        buffer_before_minutes: int | None | Unset
        if isinstance(self.buffer_before_minutes, Unset):
            buffer_before_minutes = UNSET
        else:
            buffer_before_minutes = self.buffer_before_minutes

        overrides: list[dict[str, Any]] | None | Unset
        if isinstance(self.overrides, Unset):
            overrides = UNSET
        elif isinstance(self.overrides, list):
            overrides = []
            for overrides_type_0_item_data in self.overrides:
                overrides_type_0_item = overrides_type_0_item_data.to_dict()
                overrides.append(overrides_type_0_item)

        else:
            overrides = self.overrides

        timezone: None | str | Unset
        if isinstance(self.timezone, Unset):
            timezone = UNSET
        else:
            timezone = self.timezone

        working_hours: dict[str, Any] | None | Unset
        if isinstance(self.working_hours, Unset):
            working_hours = UNSET
        elif isinstance(self.working_hours, WorkingHours):
            working_hours = self.working_hours.to_dict()
        else:
            working_hours = self.working_hours

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if buffer_after_minutes is not UNSET:
            field_dict["buffer_after_minutes"] = buffer_after_minutes
        if buffer_before_minutes is not UNSET:
            field_dict["buffer_before_minutes"] = buffer_before_minutes
        if overrides is not UNSET:
            field_dict["overrides"] = overrides
        if timezone is not UNSET:
            field_dict["timezone"] = timezone
        if working_hours is not UNSET:
            field_dict["working_hours"] = working_hours

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.date_hours import DateHours
        from ..models.working_hours import WorkingHours

        d = dict(src_dict)

        def _parse_buffer_after_minutes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        buffer_after_minutes = _parse_buffer_after_minutes(
            d.pop("buffer_after_minutes", UNSET)
        )

        def _parse_buffer_before_minutes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        buffer_before_minutes = _parse_buffer_before_minutes(
            d.pop("buffer_before_minutes", UNSET)
        )

        def _parse_overrides(data: object) -> list[DateHours] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                overrides_type_0 = []
                _overrides_type_0 = data
                for overrides_type_0_item_data in _overrides_type_0:
                    overrides_type_0_item = DateHours.from_dict(
                        overrides_type_0_item_data
                    )

                    overrides_type_0.append(overrides_type_0_item)

                return overrides_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[DateHours] | None | Unset, data)

        overrides = _parse_overrides(d.pop("overrides", UNSET))

        def _parse_timezone(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        timezone = _parse_timezone(d.pop("timezone", UNSET))

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

        put_availability_rules = cls(
            buffer_after_minutes=buffer_after_minutes,
            buffer_before_minutes=buffer_before_minutes,
            overrides=overrides,
            timezone=timezone,
            working_hours=working_hours,
        )

        return put_availability_rules
