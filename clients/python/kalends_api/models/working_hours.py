from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.open_hours import OpenHours


T = TypeVar("T", bound="WorkingHours")


@_attrs_define
class WorkingHours:
    """The opening hours of each weekday. A weekday that is left out is closed.

    Attributes:
        fri (None | OpenHours | Unset):
        mon (None | OpenHours | Unset):
        sat (None | OpenHours | Unset):
        sun (None | OpenHours | Unset):
        thu (None | OpenHours | Unset):
        tue (None | OpenHours | Unset):
        wed (None | OpenHours | Unset):
    """

    fri: None | OpenHours | Unset = UNSET
    mon: None | OpenHours | Unset = UNSET
    sat: None | OpenHours | Unset = UNSET
    sun: None | OpenHours | Unset = UNSET
    thu: None | OpenHours | Unset = UNSET
    tue: None | OpenHours | Unset = UNSET
    wed: None | OpenHours | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.open_hours import OpenHours

        fri: dict[str, Any] | None | Unset
        if isinstance(self.fri, Unset):
            fri = UNSET
        elif isinstance(self.fri, OpenHours):
            fri = self.fri.to_dict()
        else:
            fri = self.fri

        mon: dict[str, Any] | None | Unset
        if isinstance(self.mon, Unset):
            mon = UNSET
        elif isinstance(self.mon, OpenHours):
            mon = self.mon.to_dict()
        else:
            mon = self.mon

        sat: dict[str, Any] | None | Unset
        if isinstance(self.sat, Unset):
            sat = UNSET
        elif isinstance(self.sat, OpenHours):
            sat = self.sat.to_dict()
        else:
            sat = self.sat

        sun: dict[str, Any] | None | Unset
        if isinstance(self.sun, Unset):
            sun = UNSET
        elif isinstance(self.sun, OpenHours):
            sun = self.sun.to_dict()
        else:
            sun = self.sun

        thu: dict[str, Any] | None | Unset
        if isinstance(self.thu, Unset):
            thu = UNSET
        elif isinstance(self.thu, OpenHours):
            thu = self.thu.to_dict()
        else:
            thu = self.thu

        tue: dict[str, Any] | None | Unset
        if isinstance(self.tue, Unset):
            tue = UNSET
        elif isinstance(self.tue, OpenHours):
            tue = self.tue.to_dict()
        else:
            tue = self.tue

        wed: dict[str, Any] | None | Unset
        if isinstance(self.wed, Unset):
            wed = UNSET
        elif isinstance(self.wed, OpenHours):
            wed = self.wed.to_dict()
        else:
            wed = self.wed

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if fri is not UNSET:
            field_dict["fri"] = fri
        if mon is not UNSET:
            field_dict["mon"] = mon
        if sat is not UNSET:
            field_dict["sat"] = sat
        if sun is not UNSET:
            field_dict["sun"] = sun
        if thu is not UNSET:
            field_dict["thu"] = thu
        if tue is not UNSET:
            field_dict["tue"] = tue
        if wed is not UNSET:
            field_dict["wed"] = wed

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.open_hours import OpenHours

        d = dict(src_dict)

        def _parse_fri(data: object) -> None | OpenHours | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                fri_type_0 = OpenHours.from_dict(data)

                return fri_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OpenHours | Unset, data)

        fri = _parse_fri(d.pop("fri", UNSET))

        def _parse_mon(data: object) -> None | OpenHours | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                mon_type_0 = OpenHours.from_dict(data)

                return mon_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OpenHours | Unset, data)

        mon = _parse_mon(d.pop("mon", UNSET))

        def _parse_sat(data: object) -> None | OpenHours | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                sat_type_0 = OpenHours.from_dict(data)

                return sat_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OpenHours | Unset, data)

        sat = _parse_sat(d.pop("sat", UNSET))

        def _parse_sun(data: object) -> None | OpenHours | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                sun_type_0 = OpenHours.from_dict(data)

                return sun_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OpenHours | Unset, data)

        sun = _parse_sun(d.pop("sun", UNSET))

        def _parse_thu(data: object) -> None | OpenHours | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                thu_type_0 = OpenHours.from_dict(data)

                return thu_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OpenHours | Unset, data)

        thu = _parse_thu(d.pop("thu", UNSET))

        def _parse_tue(data: object) -> None | OpenHours | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                tue_type_0 = OpenHours.from_dict(data)

                return tue_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OpenHours | Unset, data)

        tue = _parse_tue(d.pop("tue", UNSET))

        def _parse_wed(data: object) -> None | OpenHours | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                wed_type_0 = OpenHours.from_dict(data)

                return wed_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OpenHours | Unset, data)

        wed = _parse_wed(d.pop("wed", UNSET))

        working_hours = cls(
            fri=fri,
            mon=mon,
            sat=sat,
            sun=sun,
            thu=thu,
            tue=tue,
            wed=wed,
        )

        return working_hours
