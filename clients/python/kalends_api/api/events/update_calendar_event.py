from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.awaits_approval import AwaitsApproval
from ...models.error_envelope import ErrorEnvelope
from ...models.event import Event
from ...models.series_scope import SeriesScope
from ...models.update_event import UpdateEvent
from ...types import UNSET, Response, Unset


def _get_kwargs(
    cal_id: str,
    id: str,
    *,
    body: UpdateEvent,
    scope: SeriesScope | Unset = UNSET,
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

    json_scope: str | Unset = UNSET
    if not isinstance(scope, Unset):
        json_scope = scope.value

    params["scope"] = json_scope

    params["local"] = local

    params["dry_run"] = dry_run

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/v1/calendars/{cal_id}/events/{id}".format(
            cal_id=quote(str(cal_id), safe=""),
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
    cal_id: str,
    id: str,
    *,
    client: AuthenticatedClient,
    body: UpdateEvent,
    scope: SeriesScope | Unset = UNSET,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | Event]:
    """Changes an event.

     At least one field is required. Emits `event.updated`. Without `end_time`, `start_time` moves the
    event, which keeps
    its length. Without `start_time`, `end_time` changes the length. An instance of a series changes
    independently of
    the series and keeps its `originalStartTime`. With `scope=following` or `scope=all`, its later
    occurrences, or all of
    them, change too: a new start moves them by as much on the wall clock, with their cancelled and
    changed occurrences. If a series gets a new rule or start, its cancelled and changed
    occurrences are kept if the new rule still contains them, and dropped otherwise. If the time must be
    free and is
    not, the answer is 409 `conflict`, code `slot_taken`. Imported events are read-only: the answer is
    403 `forbidden`,
    code `external_event_readonly`.

    Args:
        cal_id (str):
        id (str):
        scope (SeriesScope | Unset): The occurrences that a change of one occurrence of a series
            affects.
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        if_match (str | Unset):
        body (UpdateEvent): The fields of an event that a PATCH can change. At least one is
            required.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | Event]
    """

    kwargs = _get_kwargs(
        cal_id=cal_id,
        id=id,
        body=body,
        scope=scope,
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
    cal_id: str,
    id: str,
    *,
    client: AuthenticatedClient,
    body: UpdateEvent,
    scope: SeriesScope | Unset = UNSET,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | Event | None:
    """Changes an event.

     At least one field is required. Emits `event.updated`. Without `end_time`, `start_time` moves the
    event, which keeps
    its length. Without `start_time`, `end_time` changes the length. An instance of a series changes
    independently of
    the series and keeps its `originalStartTime`. With `scope=following` or `scope=all`, its later
    occurrences, or all of
    them, change too: a new start moves them by as much on the wall clock, with their cancelled and
    changed occurrences. If a series gets a new rule or start, its cancelled and changed
    occurrences are kept if the new rule still contains them, and dropped otherwise. If the time must be
    free and is
    not, the answer is 409 `conflict`, code `slot_taken`. Imported events are read-only: the answer is
    403 `forbidden`,
    code `external_event_readonly`.

    Args:
        cal_id (str):
        id (str):
        scope (SeriesScope | Unset): The occurrences that a change of one occurrence of a series
            affects.
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        if_match (str | Unset):
        body (UpdateEvent): The fields of an event that a PATCH can change. At least one is
            required.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | Event
    """

    return sync_detailed(
        cal_id=cal_id,
        id=id,
        client=client,
        body=body,
        scope=scope,
        local=local,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        kalends_run=kalends_run,
        if_match=if_match,
    ).parsed


async def asyncio_detailed(
    cal_id: str,
    id: str,
    *,
    client: AuthenticatedClient,
    body: UpdateEvent,
    scope: SeriesScope | Unset = UNSET,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | Event]:
    """Changes an event.

     At least one field is required. Emits `event.updated`. Without `end_time`, `start_time` moves the
    event, which keeps
    its length. Without `start_time`, `end_time` changes the length. An instance of a series changes
    independently of
    the series and keeps its `originalStartTime`. With `scope=following` or `scope=all`, its later
    occurrences, or all of
    them, change too: a new start moves them by as much on the wall clock, with their cancelled and
    changed occurrences. If a series gets a new rule or start, its cancelled and changed
    occurrences are kept if the new rule still contains them, and dropped otherwise. If the time must be
    free and is
    not, the answer is 409 `conflict`, code `slot_taken`. Imported events are read-only: the answer is
    403 `forbidden`,
    code `external_event_readonly`.

    Args:
        cal_id (str):
        id (str):
        scope (SeriesScope | Unset): The occurrences that a change of one occurrence of a series
            affects.
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        if_match (str | Unset):
        body (UpdateEvent): The fields of an event that a PATCH can change. At least one is
            required.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | Event]
    """

    kwargs = _get_kwargs(
        cal_id=cal_id,
        id=id,
        body=body,
        scope=scope,
        local=local,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        kalends_run=kalends_run,
        if_match=if_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    cal_id: str,
    id: str,
    *,
    client: AuthenticatedClient,
    body: UpdateEvent,
    scope: SeriesScope | Unset = UNSET,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | Event | None:
    """Changes an event.

     At least one field is required. Emits `event.updated`. Without `end_time`, `start_time` moves the
    event, which keeps
    its length. Without `start_time`, `end_time` changes the length. An instance of a series changes
    independently of
    the series and keeps its `originalStartTime`. With `scope=following` or `scope=all`, its later
    occurrences, or all of
    them, change too: a new start moves them by as much on the wall clock, with their cancelled and
    changed occurrences. If a series gets a new rule or start, its cancelled and changed
    occurrences are kept if the new rule still contains them, and dropped otherwise. If the time must be
    free and is
    not, the answer is 409 `conflict`, code `slot_taken`. Imported events are read-only: the answer is
    403 `forbidden`,
    code `external_event_readonly`.

    Args:
        cal_id (str):
        id (str):
        scope (SeriesScope | Unset): The occurrences that a change of one occurrence of a series
            affects.
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        if_match (str | Unset):
        body (UpdateEvent): The fields of an event that a PATCH can change. At least one is
            required.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | Event
    """

    return (
        await asyncio_detailed(
            cal_id=cal_id,
            id=id,
            client=client,
            body=body,
            scope=scope,
            local=local,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
            kalends_run=kalends_run,
            if_match=if_match,
        )
    ).parsed
