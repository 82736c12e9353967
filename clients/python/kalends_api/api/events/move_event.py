from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.awaits_approval import AwaitsApproval
from ...models.error_envelope import ErrorEnvelope
from ...models.event import Event
from ...models.move_event import MoveEvent
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: MoveEvent,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    if not isinstance(kalends_run, Unset):
        headers["Kalends-Run"] = kalends_run

    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    params: dict[str, Any] = {}

    params["local"] = local

    params["dry_run"] = dry_run

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/events/{id}/move".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AwaitsApproval | ErrorEnvelope | Event:
    if response.status_code == 200:
        response_200 = Event.from_dict(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = AwaitsApproval.from_dict(response.json())

        return response_202

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AwaitsApproval | ErrorEnvelope | Event]:
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
    body: MoveEvent,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | Event]:
    """Moves an event, or a whole series, to another calendar.

     The event keeps its identifier, its fields and, in a series, its cancelled and changed occurrences.
    An all-day event
    keeps its dates in the zone of the new calendar. Without reminders of its own, it gets the new
    calendar's. An event
    that is on the calendar already stays as it is. Emits `event.updated`. An instance of a series moves
    only with its
    series. If the time must be free there and is not, the answer is 409 `conflict`, code `slot_taken`.
    Imported events
    are read-only: the answer is 403 `forbidden`, code `external_event_readonly`.

    Args:
        id (str):
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        if_match (str | Unset):
        body (MoveEvent): The calendar to which an event moves.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | Event]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        local=local,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        kalends_run=kalends_run,
        if_match=if_match,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    body: MoveEvent,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | Event | None:
    """Moves an event, or a whole series, to another calendar.

     The event keeps its identifier, its fields and, in a series, its cancelled and changed occurrences.
    An all-day event
    keeps its dates in the zone of the new calendar. Without reminders of its own, it gets the new
    calendar's. An event
    that is on the calendar already stays as it is. Emits `event.updated`. An instance of a series moves
    only with its
    series. If the time must be free there and is not, the answer is 409 `conflict`, code `slot_taken`.
    Imported events
    are read-only: the answer is 403 `forbidden`, code `external_event_readonly`.

    Args:
        id (str):
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        if_match (str | Unset):
        body (MoveEvent): The calendar to which an event moves.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | Event
    """

    return sync_detailed(
        id=id,
        client=client,
        body=body,
        local=local,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        kalends_run=kalends_run,
        if_match=if_match,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: MoveEvent,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | Event]:
    """Moves an event, or a whole series, to another calendar.

     The event keeps its identifier, its fields and, in a series, its cancelled and changed occurrences.
    An all-day event
    keeps its dates in the zone of the new calendar. Without reminders of its own, it gets the new
    calendar's. An event
    that is on the calendar already stays as it is. Emits `event.updated`. An instance of a series moves
    only with its
    series. If the time must be free there and is not, the answer is 409 `conflict`, code `slot_taken`.
    Imported events
    are read-only: the answer is 403 `forbidden`, code `external_event_readonly`.

    Args:
        id (str):
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        if_match (str | Unset):
        body (MoveEvent): The calendar to which an event moves.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | Event]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        local=local,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        kalends_run=kalends_run,
        if_match=if_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    body: MoveEvent,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | Event | None:
    """Moves an event, or a whole series, to another calendar.

     The event keeps its identifier, its fields and, in a series, its cancelled and changed occurrences.
    An all-day event
    keeps its dates in the zone of the new calendar. Without reminders of its own, it gets the new
    calendar's. An event
    that is on the calendar already stays as it is. Emits `event.updated`. An instance of a series moves
    only with its
    series. If the time must be free there and is not, the answer is 409 `conflict`, code `slot_taken`.
    Imported events
    are read-only: the answer is 403 `forbidden`, code `external_event_readonly`.

    Args:
        id (str):
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        if_match (str | Unset):
        body (MoveEvent): The calendar to which an event moves.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | Event
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
            local=local,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
            kalends_run=kalends_run,
            if_match=if_match,
        )
    ).parsed
