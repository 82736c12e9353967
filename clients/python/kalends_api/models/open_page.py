from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.question import Question


T = TypeVar("T", bound="OpenPage")


@_attrs_define
class OpenPage:
    """A booking page, as guests see it.

    Attributes:
        duration_minutes (int): The length of a slot, in minutes.
        slug (str): The last part of the page's address.
        timezone (str): The IANA time zone of the slots.
        title (str): The title of the page, which says what is booked.
        description (None | str | Unset): A description, as free text.
        host_name (str | Unset): Who receives the guests. Absent if the page does not say.
        location (str | Unset): Where bookings take place. Absent if the page does not say.
        questions (list[Question] | Unset): What guests are asked. Send the answers with the booking. Absent if there
            are no questions.
    """

    duration_minutes: int
    slug: str
    timezone: str
    title: str
    description: None | str | Unset = UNSET
    host_name: str | Unset = UNSET
    location: str | Unset = UNSET
    questions: list[Question] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        duration_minutes = self.duration_minutes

        slug = self.slug

        timezone = self.timezone

        title = self.title

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        host_name = self.host_name

        location = self.location

        questions: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.questions, Unset):
            questions = []
            for questions_item_data in self.questions:
                questions_item = questions_item_data.to_dict()
                questions.append(questions_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "duration_minutes": duration_minutes,
                "slug": slug,
                "timezone": timezone,
                "title": title,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description
        if host_name is not UNSET:
            field_dict["host_name"] = host_name
        if location is not UNSET:
            field_dict["location"] = location
        if questions is not UNSET:
            field_dict["questions"] = questions

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.question import Question

        d = dict(src_dict)
        duration_minutes = d.pop("duration_minutes")

        slug = d.pop("slug")

        timezone = d.pop("timezone")

        title = d.pop("title")

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        host_name = d.pop("host_name", UNSET)

        location = d.pop("location", UNSET)

        _questions = d.pop("questions", UNSET)
        questions: list[Question] | Unset = UNSET
        if _questions is not UNSET:
            questions = []
            for questions_item_data in _questions:
                questions_item = Question.from_dict(questions_item_data)

                questions.append(questions_item)

        open_page = cls(
            duration_minutes=duration_minutes,
            slug=slug,
            timezone=timezone,
            title=title,
            description=description,
            host_name=host_name,
            location=location,
            questions=questions,
        )

        open_page.additional_properties = d
        return open_page

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
