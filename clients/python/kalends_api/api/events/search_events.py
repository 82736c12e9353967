import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.found_events import FoundEvents
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    q: str,
    start_after: datetime.datetime | Unset = UNSET,
    start_before: datetime.datetime | Unset = UNSET,
    calendar_id: str | Unset = UNSET,
    agent_id: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    local: bool | Unset = False,
    limit: int | Unset = 50,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["q"] = q

    json_start_after: str | Unset = UNSET
    if not isinstance(start_after, Unset):
        json_start_after = start_after.isoformat()
    params["start_after"] = json_start_after

    json_start_before: str | Unset = UNSET
    if not isinstance(start_before, Unset):
        json_start_before = start_before.isoformat()
    params["start_before"] = json_start_before

    params["calendar_id"] = calendar_id

    params["agent_id"] = agent_id

    params["cursor"] = cursor

    params["local"] = local

    params["limit"] = limit

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/events/search",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | FoundEvents:
    if response.status_code == 200:
        response_200 = FoundEvents.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | FoundEvents]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    q: str,
    start_after: datetime.datetime | Unset = UNSET,
    start_before: datetime.datetime | Unset = UNSET,
    calendar_id: str | Unset = UNSET,
    agent_id: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    local: bool | Unset = False,
    limit: int | Unset = 50,
) -> Response[ErrorEnvelope | FoundEvents]:
    """Finds events by words in their titles, descriptions and locations.

     Case and accents make no difference, and a word is also found within a longer one. A request
    searches at most 366 days
    and 5,000 events. If there is more, `next` is the `cursor` of the next request. Send the other
    parameters again with
    it. The titles of events are encrypted at rest: the events are read and compared, and no index holds
    their words.

    Args:
        q (str):
        start_after (datetime.datetime | Unset):
        start_before (datetime.datetime | Unset):
        calendar_id (str | Unset):
        agent_id (str | Unset):
        cursor (str | Unset):
        local (bool | Unset):  Default: False.
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | FoundEvents]
    """

    kwargs = _get_kwargs(
        q=q,
        start_after=start_after,
        start_before=start_before,
        calendar_id=calendar_id,
        agent_id=agent_id,
        cursor=cursor,
        local=local,
        limit=limit,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    q: str,
    start_after: datetime.datetime | Unset = UNSET,
    start_before: datetime.datetime | Unset = UNSET,
    calendar_id: str | Unset = UNSET,
    agent_id: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    local: bool | Unset = False,
    limit: int | Unset = 50,
) -> ErrorEnvelope | FoundEvents | None:
    """Finds events by words in their titles, descriptions and locations.

     Case and accents make no difference, and a word is also found within a longer one. A request
    searches at most 366 days
    and 5,000 events. If there is more, `next` is the `cursor` of the next request. Send the other
    parameters again with
    it. The titles of events are encrypted at rest: the events are read and compared, and no index holds
    their words.

    Args:
        q (str):
        start_after (datetime.datetime | Unset):
        start_before (datetime.datetime | Unset):
        calendar_id (str | Unset):
        agent_id (str | Unset):
        cursor (str | Unset):
        local (bool | Unset):  Default: False.
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | FoundEvents
    """

    return sync_detailed(
        client=client,
        q=q,
        start_after=start_after,
        start_before=start_before,
        calendar_id=calendar_id,
        agent_id=agent_id,
        cursor=cursor,
        local=local,
        limit=limit,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    q: str,
    start_after: datetime.datetime | Unset = UNSET,
    start_before: datetime.datetime | Unset = UNSET,
    calendar_id: str | Unset = UNSET,
    agent_id: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    local: bool | Unset = False,
    limit: int | Unset = 50,
) -> Response[ErrorEnvelope | FoundEvents]:
    """Finds events by words in their titles, descriptions and locations.

     Case and accents make no difference, and a word is also found within a longer one. A request
    searches at most 366 days
    and 5,000 events. If there is more, `next` is the `cursor` of the next request. Send the other
    parameters again with
    it. The titles of events are encrypted at rest: the events are read and compared, and no index holds
    their words.

    Args:
        q (str):
        start_after (datetime.datetime | Unset):
        start_before (datetime.datetime | Unset):
        calendar_id (str | Unset):
        agent_id (str | Unset):
        cursor (str | Unset):
        local (bool | Unset):  Default: False.
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | FoundEvents]
    """

    kwargs = _get_kwargs(
        q=q,
        start_after=start_after,
        start_before=start_before,
        calendar_id=calendar_id,
        agent_id=agent_id,
        cursor=cursor,
        local=local,
        limit=limit,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    q: str,
    start_after: datetime.datetime | Unset = UNSET,
    start_before: datetime.datetime | Unset = UNSET,
    calendar_id: str | Unset = UNSET,
    agent_id: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    local: bool | Unset = False,
    limit: int | Unset = 50,
) -> ErrorEnvelope | FoundEvents | None:
    """Finds events by words in their titles, descriptions and locations.

     Case and accents make no difference, and a word is also found within a longer one. A request
    searches at most 366 days
    and 5,000 events. If there is more, `next` is the `cursor` of the next request. Send the other
    parameters again with
    it. The titles of events are encrypted at rest: the events are read and compared, and no index holds
    their words.

    Args:
        q (str):
        start_after (datetime.datetime | Unset):
        start_before (datetime.datetime | Unset):
        calendar_id (str | Unset):
        agent_id (str | Unset):
        cursor (str | Unset):
        local (bool | Unset):  Default: False.
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | FoundEvents
    """

    return (
        await asyncio_detailed(
            client=client,
            q=q,
            start_after=start_after,
            start_before=start_before,
            calendar_id=calendar_id,
            agent_id=agent_id,
            cursor=cursor,
            local=local,
            limit=limit,
        )
    ).parsed
