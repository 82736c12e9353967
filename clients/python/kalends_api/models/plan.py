from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.public_plan_name import PublicPlanName
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.plan_limits import PlanLimits


T = TypeVar("T", bound="Plan")


@_attrs_define
class Plan:
    """A plan.

    Attributes:
        display_features (list[str]): The plan's features, as text to display. Do not check capabilities with it.
        id (PublicPlanName):
        name (str): The display name.
        recommended (bool): Whether this is the suggested plan.
        tagline (str): A one-line description.
        contact_url (None | str | Unset): The page on which to ask about the plan. Only on `custom`; null if the
            operator has not set one.
        currency (None | str | Unset): The currency, as a lower-case ISO 4217 code.
        custom_pricing (bool | None | Unset): True on `custom`. Otherwise absent.
        limits (None | PlanLimits | Unset):
        price (int | None | Unset): The price per month, in the currency's smallest unit. Null if the operator sets it.
    """

    display_features: list[str]
    id: PublicPlanName
    name: str
    recommended: bool
    tagline: str
    contact_url: None | str | Unset = UNSET
    currency: None | str | Unset = UNSET
    custom_pricing: bool | None | Unset = UNSET
    limits: None | PlanLimits | Unset = UNSET
    price: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.plan_limits import PlanLimits

        display_features = self.display_features

        id = self.id.value

        name = self.name

        recommended = self.recommended

        tagline = self.tagline

        contact_url: None | str | Unset
        if isinstance(self.contact_url, Unset):
            contact_url = UNSET
        else:
            contact_url = self.contact_url

        currency: None | str | Unset
        if isinstance(self.currency, Unset):
            currency = UNSET
        else:
            currency = self.currency

        custom_pricing: bool | None | Unset
        if isinstance(self.custom_pricing, Unset):
            custom_pricing = UNSET
        else:
            custom_pricing = self.custom_pricing

        limits: dict[str, Any] | None | Unset
        if isinstance(self.limits, Unset):
            limits = UNSET
        elif isinstance(self.limits, PlanLimits):
            limits = self.limits.to_dict()
        else:
            limits = self.limits

        price: int | None | Unset
        if isinstance(self.price, Unset):
            price = UNSET
        else:
            price = self.price

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "display_features": display_features,
                "id": id,
                "name": name,
                "recommended": recommended,
                "tagline": tagline,
            }
        )
        if contact_url is not UNSET:
            field_dict["contact_url"] = contact_url
        if currency is not UNSET:
            field_dict["currency"] = currency
        if custom_pricing is not UNSET:
            field_dict["custom_pricing"] = custom_pricing
        if limits is not UNSET:
            field_dict["limits"] = limits
        if price is not UNSET:
            field_dict["price"] = price

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.plan_limits import PlanLimits

        d = dict(src_dict)
        display_features = cast(list[str], d.pop("display_features"))

        id = PublicPlanName(d.pop("id"))

        name = d.pop("name")

        recommended = d.pop("recommended")

        tagline = d.pop("tagline")

        def _parse_contact_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        contact_url = _parse_contact_url(d.pop("contact_url", UNSET))

        def _parse_currency(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        currency = _parse_currency(d.pop("currency", UNSET))

        def _parse_custom_pricing(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        custom_pricing = _parse_custom_pricing(d.pop("custom_pricing", UNSET))

        def _parse_limits(data: object) -> None | PlanLimits | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                limits_type_0 = PlanLimits.from_dict(data)

                return limits_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PlanLimits | Unset, data)

        limits = _parse_limits(d.pop("limits", UNSET))

        def _parse_price(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        price = _parse_price(d.pop("price", UNSET))

        plan = cls(
            display_features=display_features,
            id=id,
            name=name,
            recommended=recommended,
            tagline=tagline,
            contact_url=contact_url,
            currency=currency,
            custom_pricing=custom_pricing,
            limits=limits,
            price=price,
        )

        plan.additional_properties = d
        return plan

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
