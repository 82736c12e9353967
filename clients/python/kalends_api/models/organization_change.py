from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.organization_change_body import OrganizationChangeBody


T = TypeVar("T", bound="OrganizationChange")


@_attrs_define
class OrganizationChange:
    """A change of something in the organization.

    Attributes:
        at (datetime.datetime): When the change was made.
        body (OrganizationChangeBody): The resource after the change, as the webhook message has it, or as the API shows
            it without secrets. For
            `event.attendee_responded`, the reply. For `event.reminder`, `event.started` and `event.ended`, the event at
            that time. For `proposal.responded`, `proposal.confirmed`, `proposal.cancelled` and `proposal.expired`, the
            outcome with `proposal_id`. For `approval.decided`, the approval without its `result`. For `calendar.imported`,
            `availability_rules.deleted` and `ical_subscription.deleted`, only identifiers.
        resource_id (str): The identifier of the resource.
        resource_type (str): The kind of resource: the type up to the point.
        type_ (str): What happened: a type of webhook messages, or one of the types without a message, such as
            `calendar.created`.
            Later versions may add types.
        version (int): The version of the resource after the change. Changes of a resource come in the order of its
            versions. For
            `event.reminder`, `event.started` and `event.ended`, the version that the event had at that time. 0 for
            `calendar.imported`.
    """

    at: datetime.datetime
    body: OrganizationChangeBody
    resource_id: str
    resource_type: str
    type_: str
    version: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        body = self.body.to_dict()

        resource_id = self.resource_id

        resource_type = self.resource_type

        type_ = self.type_

        version = self.version

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "body": body,
                "resource_id": resource_id,
                "resource_type": resource_type,
                "type": type_,
                "version": version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.organization_change_body import OrganizationChangeBody

        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        body = OrganizationChangeBody.from_dict(d.pop("body"))

        resource_id = d.pop("resource_id")

        resource_type = d.pop("resource_type")

        type_ = d.pop("type")

        version = d.pop("version")

        organization_change = cls(
            at=at,
            body=body,
            resource_id=resource_id,
            resource_type=resource_type,
            type_=type_,
            version=version,
        )

        organization_change.additional_properties = d
        return organization_change

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
