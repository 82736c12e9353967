from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.open_hours import OpenHours


T = TypeVar("T", bound="DateHours")


@_attrs_define
class DateHours:
    """A date with its own opening hours, which replace those of its weekday.

    Attributes:
        date (str): The date, `YYYY-MM-DD` in the years 1970 to 2099, in the zone of the rules.
        working_hours (None | OpenHours):
    """

    date: str
    working_hours: None | OpenHours

    def to_dict(self) -> dict[str, Any]:
        from ..models.open_hours import OpenHours

        date = self.date

        working_hours: dict[str, Any] | None
        if isinstance(self.working_hours, OpenHours):
            working_hours = self.working_hours.to_dict()
        else:
            working_hours = self.working_hours

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "date": date,
                "working_hours": working_hours,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.open_hours import OpenHours

        d = dict(src_dict)
        date = d.pop("date")

        def _parse_working_hours(data: object) -> None | OpenHours:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                working_hours_type_0 = OpenHours.from_dict(data)

                return working_hours_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OpenHours, data)

        working_hours = _parse_working_hours(d.pop("working_hours"))

        date_hours = cls(
            date=date,
            working_hours=working_hours,
        )

        return date_hours
