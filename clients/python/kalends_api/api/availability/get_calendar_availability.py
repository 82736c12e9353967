import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.calendar_availability import CalendarAvailability
from ...models.error_envelope import ErrorEnvelope
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    start: datetime.datetime,
    end: datetime.datetime,
    slot_duration: str | Unset = "30m",
    slot_step: str | Unset = UNSET,
    include_busy: bool | Unset = False,
    allow_stale: bool | Unset = False,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_start = start.isoformat()
    params["start"] = json_start

    json_end = end.isoformat()
    params["end"] = json_end

    params["slot_duration"] = slot_duration

    params["slot_step"] = slot_step

    params["include_busy"] = include_busy

    params["allow_stale"] = allow_stale

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/calendars/{id}/availability".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> CalendarAvailability | ErrorEnvelope:
    if response.status_code == 200:
        response_200 = CalendarAvailability.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[CalendarAvailability | ErrorEnvelope]:
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
    start: datetime.datetime,
    end: datetime.datetime,
    slot_duration: str | Unset = "30m",
    slot_step: str | Unset = UNSET,
    include_busy: bool | Unset = False,
    allow_stale: bool | Unset = False,
) -> Response[CalendarAvailability | ErrorEnvelope]:
    """Returns free times of a calendar.

     With `include_busy=true`, the answer also contains the calendar's busy times, without titles.

    Args:
        id (str):
        start (datetime.datetime):
        end (datetime.datetime):
        slot_duration (str | Unset):  Default: '30m'.
        slot_step (str | Unset):
        include_busy (bool | Unset):  Default: False.
        allow_stale (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CalendarAvailability | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        start=start,
        end=end,
        slot_duration=slot_duration,
        slot_step=slot_step,
        include_busy=include_busy,
        allow_stale=allow_stale,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    start: datetime.datetime,
    end: datetime.datetime,
    slot_duration: str | Unset = "30m",
    slot_step: str | Unset = UNSET,
    include_busy: bool | Unset = False,
    allow_stale: bool | Unset = False,
) -> CalendarAvailability | ErrorEnvelope | None:
    """Returns free times of a calendar.

     With `include_busy=true`, the answer also contains the calendar's busy times, without titles.

    Args:
        id (str):
        start (datetime.datetime):
        end (datetime.datetime):
        slot_duration (str | Unset):  Default: '30m'.
        slot_step (str | Unset):
        include_busy (bool | Unset):  Default: False.
        allow_stale (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CalendarAvailability | ErrorEnvelope
    """

    return sync_detailed(
        id=id,
        client=client,
        start=start,
        end=end,
        slot_duration=slot_duration,
        slot_step=slot_step,
        include_busy=include_busy,
        allow_stale=allow_stale,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    start: datetime.datetime,
    end: datetime.datetime,
    slot_duration: str | Unset = "30m",
    slot_step: str | Unset = UNSET,
    include_busy: bool | Unset = False,
    allow_stale: bool | Unset = False,
) -> Response[CalendarAvailability | ErrorEnvelope]:
    """Returns free times of a calendar.

     With `include_busy=true`, the answer also contains the calendar's busy times, without titles.

    Args:
        id (str):
        start (datetime.datetime):
        end (datetime.datetime):
        slot_duration (str | Unset):  Default: '30m'.
        slot_step (str | Unset):
        include_busy (bool | Unset):  Default: False.
        allow_stale (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CalendarAvailability | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        start=start,
        end=end,
        slot_duration=slot_duration,
        slot_step=slot_step,
        include_busy=include_busy,
        allow_stale=allow_stale,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    start: datetime.datetime,
    end: datetime.datetime,
    slot_duration: str | Unset = "30m",
    slot_step: str | Unset = UNSET,
    include_busy: bool | Unset = False,
    allow_stale: bool | Unset = False,
) -> CalendarAvailability | ErrorEnvelope | None:
    """Returns free times of a calendar.

     With `include_busy=true`, the answer also contains the calendar's busy times, without titles.

    Args:
        id (str):
        start (datetime.datetime):
        end (datetime.datetime):
        slot_duration (str | Unset):  Default: '30m'.
        slot_step (str | Unset):
        include_busy (bool | Unset):  Default: False.
        allow_stale (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CalendarAvailability | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            start=start,
            end=end,
            slot_duration=slot_duration,
            slot_step=slot_step,
            include_busy=include_busy,
            allow_stale=allow_stale,
        )
    ).parsed
