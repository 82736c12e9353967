from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.shown_plan import ShownPlan

if TYPE_CHECKING:
    from ..models.used import Used
    from ..models.used_calls import UsedCalls


T = TypeVar("T", bound="Usage")


@_attrs_define
class Usage:
    """An organization's usage.

    Attributes:
        agents (Used): The usage of one metric that a plan limits.
        api_calls (UsedCalls): The usage of the API.
        availability_queries (Used): The usage of one metric that a plan limits.
        booking_pages (Used): The usage of one metric that a plan limits.
        calendars (Used): The usage of one metric that a plan limits.
        events (Used): The usage of one metric that a plan limits.
        ical_subscriptions (Used): The usage of one metric that a plan limits.
        imported_events (Used): The usage of one metric that a plan limits.
        period_end (datetime.datetime): The start of the next UTC month, when monthly counters reset.
        period_start (datetime.datetime): The start of the current UTC month.
        plan (ShownPlan):
        proposals (Used): The usage of one metric that a plan limits.
        recurring_events (Used): The usage of one metric that a plan limits.
        scoped_keys (Used): The usage of one metric that a plan limits.
        webhook_deliveries (Used): The usage of one metric that a plan limits.
        webhook_endpoints (Used): The usage of one metric that a plan limits.
    """

    agents: Used
    api_calls: UsedCalls
    availability_queries: Used
    booking_pages: Used
    calendars: Used
    events: Used
    ical_subscriptions: Used
    imported_events: Used
    period_end: datetime.datetime
    period_start: datetime.datetime
    plan: ShownPlan
    proposals: Used
    recurring_events: Used
    scoped_keys: Used
    webhook_deliveries: Used
    webhook_endpoints: Used
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        agents = self.agents.to_dict()

        api_calls = self.api_calls.to_dict()

        availability_queries = self.availability_queries.to_dict()

        booking_pages = self.booking_pages.to_dict()

        calendars = self.calendars.to_dict()

        events = self.events.to_dict()

        ical_subscriptions = self.ical_subscriptions.to_dict()

        imported_events = self.imported_events.to_dict()

        period_end = self.period_end.isoformat()

        period_start = self.period_start.isoformat()

        plan = self.plan.value

        proposals = self.proposals.to_dict()

        recurring_events = self.recurring_events.to_dict()

        scoped_keys = self.scoped_keys.to_dict()

        webhook_deliveries = self.webhook_deliveries.to_dict()

        webhook_endpoints = self.webhook_endpoints.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agents": agents,
                "api_calls": api_calls,
                "availability_queries": availability_queries,
                "booking_pages": booking_pages,
                "calendars": calendars,
                "events": events,
                "ical_subscriptions": ical_subscriptions,
                "imported_events": imported_events,
                "period_end": period_end,
                "period_start": period_start,
                "plan": plan,
                "proposals": proposals,
                "recurring_events": recurring_events,
                "scoped_keys": scoped_keys,
                "webhook_deliveries": webhook_deliveries,
                "webhook_endpoints": webhook_endpoints,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.used import Used
        from ..models.used_calls import UsedCalls

        d = dict(src_dict)
        agents = Used.from_dict(d.pop("agents"))

        api_calls = UsedCalls.from_dict(d.pop("api_calls"))

        availability_queries = Used.from_dict(d.pop("availability_queries"))

        booking_pages = Used.from_dict(d.pop("booking_pages"))

        calendars = Used.from_dict(d.pop("calendars"))

        events = Used.from_dict(d.pop("events"))

        ical_subscriptions = Used.from_dict(d.pop("ical_subscriptions"))

        imported_events = Used.from_dict(d.pop("imported_events"))

        period_end = datetime.datetime.fromisoformat(d.pop("period_end"))

        period_start = datetime.datetime.fromisoformat(d.pop("period_start"))

        plan = ShownPlan(d.pop("plan"))

        proposals = Used.from_dict(d.pop("proposals"))

        recurring_events = Used.from_dict(d.pop("recurring_events"))

        scoped_keys = Used.from_dict(d.pop("scoped_keys"))

        webhook_deliveries = Used.from_dict(d.pop("webhook_deliveries"))

        webhook_endpoints = Used.from_dict(d.pop("webhook_endpoints"))

        usage = cls(
            agents=agents,
            api_calls=api_calls,
            availability_queries=availability_queries,
            booking_pages=booking_pages,
            calendars=calendars,
            events=events,
            ical_subscriptions=ical_subscriptions,
            imported_events=imported_events,
            period_end=period_end,
            period_start=period_start,
            plan=plan,
            proposals=proposals,
            recurring_events=recurring_events,
            scoped_keys=scoped_keys,
            webhook_deliveries=webhook_deliveries,
            webhook_endpoints=webhook_endpoints,
        )

        usage.additional_properties = d
        return usage

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
