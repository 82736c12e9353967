from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="SignUp")


@_attrs_define
class SignUp:
    """The fields of a sign-up.

    Attributes:
        agent_name (str): The first agent's name, 1-100 characters. Must not be blank or contain NUL.
        email (str): The address that receives the verification code.
        tos_version (str): The version of the current terms (`GET /v1/auth/terms/current`). Signing up accepts them.
    """

    agent_name: str
    email: str
    tos_version: str

    def to_dict(self) -> dict[str, Any]:
        agent_name = self.agent_name

        email = self.email

        tos_version = self.tos_version

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "agent_name": agent_name,
                "email": email,
                "tos_version": tos_version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        agent_name = d.pop("agent_name")

        email = d.pop("email")

        tos_version = d.pop("tos_version")

        sign_up = cls(
            agent_name=agent_name,
            email=email,
            tos_version=tos_version,
        )

        return sign_up
