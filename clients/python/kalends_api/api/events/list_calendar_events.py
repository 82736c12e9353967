import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.event_source import EventSource
from ...models.event_status import EventStatus
from ...models.list_calendar_events_metadata import ListCalendarEventsMetadata
from ...models.list_event import ListEvent
from ...types import UNSET, Response, Unset


def _get_kwargs(
    cal_id: str,
    *,
    start_after: datetime.datetime | Unset = UNSET,
    start_before: datetime.datetime | Unset = UNSET,
    status: EventStatus | Unset = UNSET,
    source: EventSource | Unset = UNSET,
    metadata: ListCalendarEventsMetadata | Unset = UNSET,
    expand: bool | Unset = False,
    local: bool | Unset = False,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_start_after: str | Unset = UNSET
    if not isinstance(start_after, Unset):
        json_start_after = start_after.isoformat()
    params["start_after"] = json_start_after

    json_start_before: str | Unset = UNSET
    if not isinstance(start_before, Unset):
        json_start_before = start_before.isoformat()
    params["start_before"] = json_start_before

    json_status: str | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = status.value

    params["status"] = json_status

    json_source: str | Unset = UNSET
    if not isinstance(source, Unset):
        json_source = source.value

    params["source"] = json_source

    json_metadata: dict[str, Any] | Unset = UNSET
    if not isinstance(metadata, Unset):
        json_metadata = metadata.to_dict()
    if not isinstance(json_metadata, Unset):
        params.update(json_metadata)

    params["expand"] = expand

    params["local"] = local

    params["limit"] = limit

    params["offset"] = offset

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/calendars/{cal_id}/events".format(
            cal_id=quote(str(cal_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | ListEvent:
    if response.status_code == 200:
        response_200 = ListEvent.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | ListEvent]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    cal_id: str,
    *,
    client: AuthenticatedClient,
    start_after: datetime.datetime | Unset = UNSET,
    start_before: datetime.datetime | Unset = UNSET,
    status: EventStatus | Unset = UNSET,
    source: EventSource | Unset = UNSET,
    metadata: ListCalendarEventsMetadata | Unset = UNSET,
    expand: bool | Unset = False,
    local: bool | Unset = False,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> Response[ErrorEnvelope | ListEvent]:
    """Lists the events of a calendar, sorted by start.

    Args:
        cal_id (str):
        start_after (datetime.datetime | Unset):
        start_before (datetime.datetime | Unset):
        status (EventStatus | Unset): The status of an event.
        source (EventSource | Unset): The origin of an event.
        metadata (ListCalendarEventsMetadata | Unset):
        expand (bool | Unset):  Default: False.
        local (bool | Unset):  Default: False.
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ListEvent]
    """

    kwargs = _get_kwargs(
        cal_id=cal_id,
        start_after=start_after,
        start_before=start_before,
        status=status,
        source=source,
        metadata=metadata,
        expand=expand,
        local=local,
        limit=limit,
        offset=offset,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    cal_id: str,
    *,
    client: AuthenticatedClient,
    start_after: datetime.datetime | Unset = UNSET,
    start_before: datetime.datetime | Unset = UNSET,
    status: EventStatus | Unset = UNSET,
    source: EventSource | Unset = UNSET,
    metadata: ListCalendarEventsMetadata | Unset = UNSET,
    expand: bool | Unset = False,
    local: bool | Unset = False,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> ErrorEnvelope | ListEvent | None:
    """Lists the events of a calendar, sorted by start.

    Args:
        cal_id (str):
        start_after (datetime.datetime | Unset):
        start_before (datetime.datetime | Unset):
        status (EventStatus | Unset): The status of an event.
        source (EventSource | Unset): The origin of an event.
        metadata (ListCalendarEventsMetadata | Unset):
        expand (bool | Unset):  Default: False.
        local (bool | Unset):  Default: False.
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ListEvent
    """

    return sync_detailed(
        cal_id=cal_id,
        client=client,
        start_after=start_after,
        start_before=start_before,
        status=status,
        source=source,
        metadata=metadata,
        expand=expand,
        local=local,
        limit=limit,
        offset=offset,
    ).parsed


async def asyncio_detailed(
    cal_id: str,
    *,
    client: AuthenticatedClient,
    start_after: datetime.datetime | Unset = UNSET,
    start_before: datetime.datetime | Unset = UNSET,
    status: EventStatus | Unset = UNSET,
    source: EventSource | Unset = UNSET,
    metadata: ListCalendarEventsMetadata | Unset = UNSET,
    expand: bool | Unset = False,
    local: bool | Unset = False,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> Response[ErrorEnvelope | ListEvent]:
    """Lists the events of a calendar, sorted by start.

    Args:
        cal_id (str):
        start_after (datetime.datetime | Unset):
        start_before (datetime.datetime | Unset):
        status (EventStatus | Unset): The status of an event.
        source (EventSource | Unset): The origin of an event.
        metadata (ListCalendarEventsMetadata | Unset):
        expand (bool | Unset):  Default: False.
        local (bool | Unset):  Default: False.
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ListEvent]
    """

    kwargs = _get_kwargs(
        cal_id=cal_id,
        start_after=start_after,
        start_before=start_before,
        status=status,
        source=source,
        metadata=metadata,
        expand=expand,
        local=local,
        limit=limit,
        offset=offset,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    cal_id: str,
    *,
    client: AuthenticatedClient,
    start_after: datetime.datetime | Unset = UNSET,
    start_before: datetime.datetime | Unset = UNSET,
    status: EventStatus | Unset = UNSET,
    source: EventSource | Unset = UNSET,
    metadata: ListCalendarEventsMetadata | Unset = UNSET,
    expand: bool | Unset = False,
    local: bool | Unset = False,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> ErrorEnvelope | ListEvent | None:
    """Lists the events of a calendar, sorted by start.

    Args:
        cal_id (str):
        start_after (datetime.datetime | Unset):
        start_before (datetime.datetime | Unset):
        status (EventStatus | Unset): The status of an event.
        source (EventSource | Unset): The origin of an event.
        metadata (ListCalendarEventsMetadata | Unset):
        expand (bool | Unset):  Default: False.
        local (bool | Unset):  Default: False.
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ListEvent
    """

    return (
        await asyncio_detailed(
            cal_id=cal_id,
            client=client,
            start_after=start_after,
            start_before=start_before,
            status=status,
            source=source,
            metadata=metadata,
            expand=expand,
            local=local,
            limit=limit,
            offset=offset,
        )
    ).parsed
