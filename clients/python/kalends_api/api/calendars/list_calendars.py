from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.include_calendars import IncludeCalendars
from ...models.list_shown_calendar import ListShownCalendar
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    include: IncludeCalendars | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_include: str | Unset = UNSET
    if not isinstance(include, Unset):
        json_include = include.value

    params["include"] = json_include

    params["limit"] = limit

    params["offset"] = offset

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/calendars",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | ListShownCalendar:
    if response.status_code == 200:
        response_200 = ListShownCalendar.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | ListShownCalendar]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    include: IncludeCalendars | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> Response[ErrorEnvelope | ListShownCalendar]:
    """Lists the calendars of all agents, oldest first.

     `include=all` adds the calendars that the organization shares. An agent's key sees the calendars of
    its agent, and
    with the scope `directory:org` also the id, the name and the zone of each shared calendar, whatever
    `include` says.

    Args:
        include (IncludeCalendars | Unset): Which calendars a list contains in addition to those
            of agents.
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ListShownCalendar]
    """

    kwargs = _get_kwargs(
        include=include,
        limit=limit,
        offset=offset,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    include: IncludeCalendars | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> ErrorEnvelope | ListShownCalendar | None:
    """Lists the calendars of all agents, oldest first.

     `include=all` adds the calendars that the organization shares. An agent's key sees the calendars of
    its agent, and
    with the scope `directory:org` also the id, the name and the zone of each shared calendar, whatever
    `include` says.

    Args:
        include (IncludeCalendars | Unset): Which calendars a list contains in addition to those
            of agents.
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ListShownCalendar
    """

    return sync_detailed(
        client=client,
        include=include,
        limit=limit,
        offset=offset,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    include: IncludeCalendars | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> Response[ErrorEnvelope | ListShownCalendar]:
    """Lists the calendars of all agents, oldest first.

     `include=all` adds the calendars that the organization shares. An agent's key sees the calendars of
    its agent, and
    with the scope `directory:org` also the id, the name and the zone of each shared calendar, whatever
    `include` says.

    Args:
        include (IncludeCalendars | Unset): Which calendars a list contains in addition to those
            of agents.
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ListShownCalendar]
    """

    kwargs = _get_kwargs(
        include=include,
        limit=limit,
        offset=offset,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    include: IncludeCalendars | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> ErrorEnvelope | ListShownCalendar | None:
    """Lists the calendars of all agents, oldest first.

     `include=all` adds the calendars that the organization shares. An agent's key sees the calendars of
    its agent, and
    with the scope `directory:org` also the id, the name and the zone of each shared calendar, whatever
    `include` says.

    Args:
        include (IncludeCalendars | Unset): Which calendars a list contains in addition to those
            of agents.
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ListShownCalendar
    """

    return (
        await asyncio_detailed(
            client=client,
            include=include,
            limit=limit,
            offset=offset,
        )
    ).parsed
