from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.error_code import ErrorCode
from ..models.error_type import ErrorType
from ..models.feature_name import FeatureName
from ..models.required_plan import RequiredPlan
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.conflict import Conflict
    from ..models.in_the_way import InTheWay
    from ..models.slot import Slot


T = TypeVar("T", bound="ErrorBody")


@_attrs_define
class ErrorBody:
    """An error.

    Attributes:
        code (ErrorCode): The code of an error. Every error has one, and a code never changes its meaning.
        message (str): What is wrong, what is allowed and what was received.
        request_id (str): The request's identifier, which is also in the `X-Request-Id` header.
        type_ (ErrorType): The type of an error. The service returns no other types.
        conflicts (list[Conflict] | None | Unset): `slot_taken` and `stale`: what blocks the time, sorted by calendar
            and start.
        current_version (None | str | Unset): `tos_version_stale`: the version to accept.
        docs_url (None | str | Unset): `plan_required`: the page that describes the feature.
        feature (FeatureName | None | Unset):
        in_the_way (list[InTheWay] | None | Unset): `run_changed`: the resources that keep the run from being taken
            back.
        nearest_free (list[Slot] | None | Unset): `slot_taken` and `stale`: up to three free times of the same length,
            nearest first.
        occurrences (list[str] | None | Unset): `slot_taken` for a series: the starts of its occurrences whose time
            something blocks, at most 20.
        param (None | str | Unset): The path of the invalid field or parameter, such as `slots[2].end_time`.
        required_plan (None | RequiredPlan | Unset):
        upgrade_url (None | str | Unset): `plan_required`: the page on which to change the plan. Null if the operator
            has not set one.
    """

    code: ErrorCode
    message: str
    request_id: str
    type_: ErrorType
    conflicts: list[Conflict] | None | Unset = UNSET
    current_version: None | str | Unset = UNSET
    docs_url: None | str | Unset = UNSET
    feature: FeatureName | None | Unset = UNSET
    in_the_way: list[InTheWay] | None | Unset = UNSET
    nearest_free: list[Slot] | None | Unset = UNSET
    occurrences: list[str] | None | Unset = UNSET
    param: None | str | Unset = UNSET
    required_plan: None | RequiredPlan | Unset = UNSET
    upgrade_url: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code = self.code.value

        message = self.message

        request_id = self.request_id

        type_ = self.type_.value

        conflicts: list[dict[str, Any]] | None | Unset
        if isinstance(self.conflicts, Unset):
            conflicts = UNSET
        elif isinstance(self.conflicts, list):
            conflicts = []
            for conflicts_type_0_item_data in self.conflicts:
                conflicts_type_0_item = conflicts_type_0_item_data.to_dict()
                conflicts.append(conflicts_type_0_item)

        else:
            conflicts = self.conflicts

        current_version: None | str | Unset
        if isinstance(self.current_version, Unset):
            current_version = UNSET
        else:
            current_version = self.current_version

        docs_url: None | str | Unset
        if isinstance(self.docs_url, Unset):
            docs_url = UNSET
        else:
            docs_url = self.docs_url

        feature: None | str | Unset
        if isinstance(self.feature, Unset):
            feature = UNSET
        elif isinstance(self.feature, FeatureName):
            feature = self.feature.value
        else:
            feature = self.feature

        in_the_way: list[dict[str, Any]] | None | Unset
        if isinstance(self.in_the_way, Unset):
            in_the_way = UNSET
        elif isinstance(self.in_the_way, list):
            in_the_way = []
            for in_the_way_type_0_item_data in self.in_the_way:
                in_the_way_type_0_item = in_the_way_type_0_item_data.to_dict()
                in_the_way.append(in_the_way_type_0_item)

        else:
            in_the_way = self.in_the_way

        nearest_free: list[dict[str, Any]] | None | Unset
        if isinstance(self.nearest_free, Unset):
            nearest_free = UNSET
        elif isinstance(self.nearest_free, list):
            nearest_free = []
            for nearest_free_type_0_item_data in self.nearest_free:
                nearest_free_type_0_item = nearest_free_type_0_item_data.to_dict()
                nearest_free.append(nearest_free_type_0_item)

        else:
            nearest_free = self.nearest_free

        occurrences: list[str] | None | Unset
        if isinstance(self.occurrences, Unset):
            occurrences = UNSET
        elif isinstance(self.occurrences, list):
            occurrences = self.occurrences

        else:
            occurrences = self.occurrences

        param: None | str | Unset
        if isinstance(self.param, Unset):
            param = UNSET
        else:
            param = self.param

        required_plan: None | str | Unset
        if isinstance(self.required_plan, Unset):
            required_plan = UNSET
        elif isinstance(self.required_plan, RequiredPlan):
            required_plan = self.required_plan.value
        else:
            required_plan = self.required_plan

        upgrade_url: None | str | Unset
        if isinstance(self.upgrade_url, Unset):
            upgrade_url = UNSET
        else:
            upgrade_url = self.upgrade_url

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "message": message,
                "request_id": request_id,
                "type": type_,
            }
        )
        if conflicts is not UNSET:
            field_dict["conflicts"] = conflicts
        if current_version is not UNSET:
            field_dict["current_version"] = current_version
        if docs_url is not UNSET:
            field_dict["docs_url"] = docs_url
        if feature is not UNSET:
            field_dict["feature"] = feature
        if in_the_way is not UNSET:
            field_dict["in_the_way"] = in_the_way
        if nearest_free is not UNSET:
            field_dict["nearest_free"] = nearest_free
        if occurrences is not UNSET:
            field_dict["occurrences"] = occurrences
        if param is not UNSET:
            field_dict["param"] = param
        if required_plan is not UNSET:
            field_dict["required_plan"] = required_plan
        if upgrade_url is not UNSET:
            field_dict["upgrade_url"] = upgrade_url

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.conflict import Conflict
        from ..models.in_the_way import InTheWay
        from ..models.slot import Slot

        d = dict(src_dict)
        code = ErrorCode(d.pop("code"))

        message = d.pop("message")

        request_id = d.pop("request_id")

        type_ = ErrorType(d.pop("type"))

        def _parse_conflicts(data: object) -> list[Conflict] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                conflicts_type_0 = []
                _conflicts_type_0 = data
                for conflicts_type_0_item_data in _conflicts_type_0:
                    conflicts_type_0_item = Conflict.from_dict(
                        conflicts_type_0_item_data
                    )

                    conflicts_type_0.append(conflicts_type_0_item)

                return conflicts_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Conflict] | None | Unset, data)

        conflicts = _parse_conflicts(d.pop("conflicts", UNSET))

        def _parse_current_version(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        current_version = _parse_current_version(d.pop("current_version", UNSET))

        def _parse_docs_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        docs_url = _parse_docs_url(d.pop("docs_url", UNSET))

        def _parse_feature(data: object) -> FeatureName | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                feature_type_0 = FeatureName(data)

                return feature_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FeatureName | None | Unset, data)

        feature = _parse_feature(d.pop("feature", UNSET))

        def _parse_in_the_way(data: object) -> list[InTheWay] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                in_the_way_type_0 = []
                _in_the_way_type_0 = data
                for in_the_way_type_0_item_data in _in_the_way_type_0:
                    in_the_way_type_0_item = InTheWay.from_dict(
                        in_the_way_type_0_item_data
                    )

                    in_the_way_type_0.append(in_the_way_type_0_item)

                return in_the_way_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[InTheWay] | None | Unset, data)

        in_the_way = _parse_in_the_way(d.pop("in_the_way", UNSET))

        def _parse_nearest_free(data: object) -> list[Slot] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                nearest_free_type_0 = []
                _nearest_free_type_0 = data
                for nearest_free_type_0_item_data in _nearest_free_type_0:
                    nearest_free_type_0_item = Slot.from_dict(
                        nearest_free_type_0_item_data
                    )

                    nearest_free_type_0.append(nearest_free_type_0_item)

                return nearest_free_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Slot] | None | Unset, data)

        nearest_free = _parse_nearest_free(d.pop("nearest_free", UNSET))

        def _parse_occurrences(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                occurrences_type_0 = cast(list[str], data)

                return occurrences_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        occurrences = _parse_occurrences(d.pop("occurrences", UNSET))

        def _parse_param(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        param = _parse_param(d.pop("param", UNSET))

        def _parse_required_plan(data: object) -> None | RequiredPlan | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                required_plan_type_0 = RequiredPlan(data)

                return required_plan_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RequiredPlan | Unset, data)

        required_plan = _parse_required_plan(d.pop("required_plan", UNSET))

        def _parse_upgrade_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        upgrade_url = _parse_upgrade_url(d.pop("upgrade_url", UNSET))

        error_body = cls(
            code=code,
            message=message,
            request_id=request_id,
            type_=type_,
            conflicts=conflicts,
            current_version=current_version,
            docs_url=docs_url,
            feature=feature,
            in_the_way=in_the_way,
            nearest_free=nearest_free,
            occurrences=occurrences,
            param=param,
            required_plan=required_plan,
            upgrade_url=upgrade_url,
        )

        error_body.additional_properties = d
        return error_body

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
