from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.refused_event import RefusedEvent
    from ..models.skipped_event import SkippedEvent


T = TypeVar("T", bound="ImportReport")


@_attrs_define
class ImportReport:
    """The result of an import of a file.

    Attributes:
        created (int): The number of new events.
        skipped (int): The number of events that could not be imported.
        skipped_events (list[SkippedEvent]): The first 100 events that could not be imported.
        untouched (int): The number of events that an earlier import created and that have not changed in the file.
        updated (int): The number of events that an earlier import created and that have changed in the file since.
        warnings (list[str]): The first 100 warnings about events that could be imported only in part.
        refused (list[RefusedEvent] | Unset): The first 100 events that were not imported because the calendar refuses
            conflicts and something else blocks
            their time. A series and its changed occurrences are one entry. Absent if there are none. The next import of the
            file tries them again.
        refused_count (int | Unset): The number of refused events, each series counted once. Absent if there are none.
    """

    created: int
    skipped: int
    skipped_events: list[SkippedEvent]
    untouched: int
    updated: int
    warnings: list[str]
    refused: list[RefusedEvent] | Unset = UNSET
    refused_count: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created = self.created

        skipped = self.skipped

        skipped_events = []
        for skipped_events_item_data in self.skipped_events:
            skipped_events_item = skipped_events_item_data.to_dict()
            skipped_events.append(skipped_events_item)

        untouched = self.untouched

        updated = self.updated

        warnings = self.warnings

        refused: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.refused, Unset):
            refused = []
            for refused_item_data in self.refused:
                refused_item = refused_item_data.to_dict()
                refused.append(refused_item)

        refused_count = self.refused_count

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "created": created,
                "skipped": skipped,
                "skipped_events": skipped_events,
                "untouched": untouched,
                "updated": updated,
                "warnings": warnings,
            }
        )
        if refused is not UNSET:
            field_dict["refused"] = refused
        if refused_count is not UNSET:
            field_dict["refused_count"] = refused_count

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.refused_event import RefusedEvent
        from ..models.skipped_event import SkippedEvent

        d = dict(src_dict)
        created = d.pop("created")

        skipped = d.pop("skipped")

        skipped_events = []
        _skipped_events = d.pop("skipped_events")
        for skipped_events_item_data in _skipped_events:
            skipped_events_item = SkippedEvent.from_dict(skipped_events_item_data)

            skipped_events.append(skipped_events_item)

        untouched = d.pop("untouched")

        updated = d.pop("updated")

        warnings = cast(list[str], d.pop("warnings"))

        _refused = d.pop("refused", UNSET)
        refused: list[RefusedEvent] | Unset = UNSET
        if _refused is not UNSET:
            refused = []
            for refused_item_data in _refused:
                refused_item = RefusedEvent.from_dict(refused_item_data)

                refused.append(refused_item)

        refused_count = d.pop("refused_count", UNSET)

        import_report = cls(
            created=created,
            skipped=skipped,
            skipped_events=skipped_events,
            untouched=untouched,
            updated=updated,
            warnings=warnings,
            refused=refused,
            refused_count=refused_count,
        )

        import_report.additional_properties = d
        return import_report

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
