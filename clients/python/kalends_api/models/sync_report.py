from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.skipped_event import SkippedEvent


T = TypeVar("T", bound="SyncReport")


@_attrs_define
class SyncReport:
    """The result of a sync.

    Attributes:
        created (int): The number of new events.
        deleted (int): The number of events that were deleted because the feed no longer contains them.
        skipped (int): The number of events that could not be imported.
        skipped_events (list[SkippedEvent]): The first 100 events that could not be imported.
        untouched (int): The number of unchanged events.
        updated (int): The number of changed events.
        warnings (list[str]): The first 100 warnings about events that could be imported only in part.
        withheld (int): The number of events that are missing from a feed that shrank by more than half. They are
            deleted only if they
            are missing from the next fetch too.
    """

    created: int
    deleted: int
    skipped: int
    skipped_events: list[SkippedEvent]
    untouched: int
    updated: int
    warnings: list[str]
    withheld: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created = self.created

        deleted = self.deleted

        skipped = self.skipped

        skipped_events = []
        for skipped_events_item_data in self.skipped_events:
            skipped_events_item = skipped_events_item_data.to_dict()
            skipped_events.append(skipped_events_item)

        untouched = self.untouched

        updated = self.updated

        warnings = self.warnings

        withheld = self.withheld

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "created": created,
                "deleted": deleted,
                "skipped": skipped,
                "skipped_events": skipped_events,
                "untouched": untouched,
                "updated": updated,
                "warnings": warnings,
                "withheld": withheld,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.skipped_event import SkippedEvent

        d = dict(src_dict)
        created = d.pop("created")

        deleted = d.pop("deleted")

        skipped = d.pop("skipped")

        skipped_events = []
        _skipped_events = d.pop("skipped_events")
        for skipped_events_item_data in _skipped_events:
            skipped_events_item = SkippedEvent.from_dict(skipped_events_item_data)

            skipped_events.append(skipped_events_item)

        untouched = d.pop("untouched")

        updated = d.pop("updated")

        warnings = cast(list[str], d.pop("warnings"))

        withheld = d.pop("withheld")

        sync_report = cls(
            created=created,
            deleted=deleted,
            skipped=skipped,
            skipped_events=skipped_events,
            untouched=untouched,
            updated=updated,
            warnings=warnings,
            withheld=withheld,
        )

        sync_report.additional_properties = d
        return sync_report

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
