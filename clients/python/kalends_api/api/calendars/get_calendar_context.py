from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.calendar_context import CalendarContext
from ...models.error_envelope import ErrorEnvelope
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    local: bool | Unset = False,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["local"] = local

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/calendars/{id}/context".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> CalendarContext | ErrorEnvelope:
    if response.status_code == 200:
        response_200 = CalendarContext.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[CalendarContext | ErrorEnvelope]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    local: bool | Unset = False,
) -> Response[CalendarContext | ErrorEnvelope]:
    """Returns the current, next and recent events of a calendar.

     Cancelled events are left out. The request does not count against the quota of events.

    Args:
        id (str):
        local (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CalendarContext | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        local=local,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    local: bool | Unset = False,
) -> CalendarContext | ErrorEnvelope | None:
    """Returns the current, next and recent events of a calendar.

     Cancelled events are left out. The request does not count against the quota of events.

    Args:
        id (str):
        local (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CalendarContext | ErrorEnvelope
    """

    return sync_detailed(
        id=id,
        client=client,
        local=local,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    local: bool | Unset = False,
) -> Response[CalendarContext | ErrorEnvelope]:
    """Returns the current, next and recent events of a calendar.

     Cancelled events are left out. The request does not count against the quota of events.

    Args:
        id (str):
        local (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CalendarContext | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        local=local,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    local: bool | Unset = False,
) -> CalendarContext | ErrorEnvelope | None:
    """Returns the current, next and recent events of a calendar.

     Cancelled events are left out. The request does not count against the quota of events.

    Args:
        id (str):
        local (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CalendarContext | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            local=local,
        )
    ).parsed
