import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.explanation import Explanation
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    agent: str | Unset = UNSET,
    calendar: str | Unset = UNSET,
    start: datetime.datetime,
    end: datetime.datetime,
    allow_stale: bool | Unset = False,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["agent"] = agent

    params["calendar"] = calendar

    json_start = start.isoformat()
    params["start"] = json_start

    json_end = end.isoformat()
    params["end"] = json_end

    params["allow_stale"] = allow_stale

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/availability/explain",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | Explanation:
    if response.status_code == 200:
        response_200 = Explanation.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | Explanation]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    agent: str | Unset = UNSET,
    calendar: str | Unset = UNSET,
    start: datetime.datetime,
    end: datetime.datetime,
    allow_stale: bool | Unset = False,
) -> Response[ErrorEnvelope | Explanation]:
    """Explains why a time is not offered.

     Returns every event, hold, busy time, buffer and closed hour that conflicts with the time, without
    titles. There are
    no reasons if and only if availability would offer the time as a slot. `outside_range` occurs only
    if slots are
    offered in a limited range, as on booking pages. Agents and calendars offer any time.

    Args:
        agent (str | Unset):
        calendar (str | Unset):
        start (datetime.datetime):
        end (datetime.datetime):
        allow_stale (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | Explanation]
    """

    kwargs = _get_kwargs(
        agent=agent,
        calendar=calendar,
        start=start,
        end=end,
        allow_stale=allow_stale,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    agent: str | Unset = UNSET,
    calendar: str | Unset = UNSET,
    start: datetime.datetime,
    end: datetime.datetime,
    allow_stale: bool | Unset = False,
) -> ErrorEnvelope | Explanation | None:
    """Explains why a time is not offered.

     Returns every event, hold, busy time, buffer and closed hour that conflicts with the time, without
    titles. There are
    no reasons if and only if availability would offer the time as a slot. `outside_range` occurs only
    if slots are
    offered in a limited range, as on booking pages. Agents and calendars offer any time.

    Args:
        agent (str | Unset):
        calendar (str | Unset):
        start (datetime.datetime):
        end (datetime.datetime):
        allow_stale (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | Explanation
    """

    return sync_detailed(
        client=client,
        agent=agent,
        calendar=calendar,
        start=start,
        end=end,
        allow_stale=allow_stale,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    agent: str | Unset = UNSET,
    calendar: str | Unset = UNSET,
    start: datetime.datetime,
    end: datetime.datetime,
    allow_stale: bool | Unset = False,
) -> Response[ErrorEnvelope | Explanation]:
    """Explains why a time is not offered.

     Returns every event, hold, busy time, buffer and closed hour that conflicts with the time, without
    titles. There are
    no reasons if and only if availability would offer the time as a slot. `outside_range` occurs only
    if slots are
    offered in a limited range, as on booking pages. Agents and calendars offer any time.

    Args:
        agent (str | Unset):
        calendar (str | Unset):
        start (datetime.datetime):
        end (datetime.datetime):
        allow_stale (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | Explanation]
    """

    kwargs = _get_kwargs(
        agent=agent,
        calendar=calendar,
        start=start,
        end=end,
        allow_stale=allow_stale,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    agent: str | Unset = UNSET,
    calendar: str | Unset = UNSET,
    start: datetime.datetime,
    end: datetime.datetime,
    allow_stale: bool | Unset = False,
) -> ErrorEnvelope | Explanation | None:
    """Explains why a time is not offered.

     Returns every event, hold, busy time, buffer and closed hour that conflicts with the time, without
    titles. There are
    no reasons if and only if availability would offer the time as a slot. `outside_range` occurs only
    if slots are
    offered in a limited range, as on booking pages. Agents and calendars offer any time.

    Args:
        agent (str | Unset):
        calendar (str | Unset):
        start (datetime.datetime):
        end (datetime.datetime):
        allow_stale (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | Explanation
    """

    return (
        await asyncio_detailed(
            client=client,
            agent=agent,
            calendar=calendar,
            start=start,
            end=end,
            allow_stale=allow_stale,
        )
    ).parsed
