from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.subscription_status_name import SubscriptionStatusName
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.sync_report import SyncReport


T = TypeVar("T", bound="Subscription")


@_attrs_define
class Subscription:
    """A calendar's subscription to a feed.

    Attributes:
        agent_id (str): The agent that owns the calendar.
        calendar_id (str): The calendar that the feed's events are imported into.
        created_at (datetime.datetime): When the subscription was created.
        id (str): The identifier, `isub_…`.
        status (SubscriptionStatusName):
        updated_at (datetime.datetime): When the subscription was last changed. Syncs do not count as changes.
        url (str): The address of the feed.
        busy_only (bool | Unset): True if only the times of the feed's events are imported, under the title `Busy`.
            Otherwise absent.
        label (None | str | Unset): The label.
        last_error (None | str | Unset): The error of the last sync. Null if it succeeded.
        last_sync (None | SyncReport | Unset):
        last_synced_at (datetime.datetime | None | Unset): When a sync last succeeded. Null before the first one.
    """

    agent_id: str
    calendar_id: str
    created_at: datetime.datetime
    id: str
    status: SubscriptionStatusName
    updated_at: datetime.datetime
    url: str
    busy_only: bool | Unset = UNSET
    label: None | str | Unset = UNSET
    last_error: None | str | Unset = UNSET
    last_sync: None | SyncReport | Unset = UNSET
    last_synced_at: datetime.datetime | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.sync_report import SyncReport

        agent_id = self.agent_id

        calendar_id = self.calendar_id

        created_at = self.created_at.isoformat()

        id = self.id

        status = self.status.value

        updated_at = self.updated_at.isoformat()

        url = self.url

        busy_only = self.busy_only

        label: None | str | Unset
        if isinstance(self.label, Unset):
            label = UNSET
        else:
            label = self.label

        last_error: None | str | Unset
        if isinstance(self.last_error, Unset):
            last_error = UNSET
        else:
            last_error = self.last_error

        last_sync: dict[str, Any] | None | Unset
        if isinstance(self.last_sync, Unset):
            last_sync = UNSET
        elif isinstance(self.last_sync, SyncReport):
            last_sync = self.last_sync.to_dict()
        else:
            last_sync = self.last_sync

        last_synced_at: None | str | Unset
        if isinstance(self.last_synced_at, Unset):
            last_synced_at = UNSET
        elif isinstance(self.last_synced_at, datetime.datetime):
            last_synced_at = self.last_synced_at.isoformat()
        else:
            last_synced_at = self.last_synced_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agent_id": agent_id,
                "calendar_id": calendar_id,
                "created_at": created_at,
                "id": id,
                "status": status,
                "updated_at": updated_at,
                "url": url,
            }
        )
        if busy_only is not UNSET:
            field_dict["busy_only"] = busy_only
        if label is not UNSET:
            field_dict["label"] = label
        if last_error is not UNSET:
            field_dict["last_error"] = last_error
        if last_sync is not UNSET:
            field_dict["last_sync"] = last_sync
        if last_synced_at is not UNSET:
            field_dict["last_synced_at"] = last_synced_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.sync_report import SyncReport

        d = dict(src_dict)
        agent_id = d.pop("agent_id")

        calendar_id = d.pop("calendar_id")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        id = d.pop("id")

        status = SubscriptionStatusName(d.pop("status"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        url = d.pop("url")

        busy_only = d.pop("busy_only", UNSET)

        def _parse_label(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        label = _parse_label(d.pop("label", UNSET))

        def _parse_last_error(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        last_error = _parse_last_error(d.pop("last_error", UNSET))

        def _parse_last_sync(data: object) -> None | SyncReport | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                last_sync_type_0 = SyncReport.from_dict(data)

                return last_sync_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SyncReport | Unset, data)

        last_sync = _parse_last_sync(d.pop("last_sync", UNSET))

        def _parse_last_synced_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_synced_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_synced_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        last_synced_at = _parse_last_synced_at(d.pop("last_synced_at", UNSET))

        subscription = cls(
            agent_id=agent_id,
            calendar_id=calendar_id,
            created_at=created_at,
            id=id,
            status=status,
            updated_at=updated_at,
            url=url,
            busy_only=busy_only,
            label=label,
            last_error=last_error,
            last_sync=last_sync,
            last_synced_at=last_synced_at,
        )

        subscription.additional_properties = d
        return subscription

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
