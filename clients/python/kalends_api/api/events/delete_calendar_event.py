import datetime
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.awaits_approval import AwaitsApproval
from ...models.error_envelope import ErrorEnvelope
from ...models.event import Event
from ...models.series_scope import SeriesScope
from ...types import UNSET, Response, Unset


def _get_kwargs(
    cal_id: str,
    id: str,
    *,
    scope: SeriesScope | Unset = UNSET,
    occurrence_start: datetime.datetime | Unset = UNSET,
    send_invitations: bool | Unset = False,
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

    json_occurrence_start: str | Unset = UNSET
    if not isinstance(occurrence_start, Unset):
        json_occurrence_start = occurrence_start.isoformat()
    params["occurrence_start"] = json_occurrence_start

    params["send_invitations"] = send_invitations

    params["local"] = local

    params["dry_run"] = dry_run

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/calendars/{cal_id}/events/{id}".format(
            cal_id=quote(str(cal_id), safe=""),
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | AwaitsApproval | ErrorEnvelope | Event:
    if response.status_code == 200:
        response_200 = Event.from_dict(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = AwaitsApproval.from_dict(response.json())

        return response_202

    if response.status_code == 204:
        response_204 = cast(Any, None)
        return response_204

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Any | AwaitsApproval | ErrorEnvelope | Event]:
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
    scope: SeriesScope | Unset = UNSET,
    occurrence_start: datetime.datetime | Unset = UNSET,
    send_invitations: bool | Unset = False,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[Any | AwaitsApproval | ErrorEnvelope | Event]:
    """Deletes an event.

     Emits `event.deleted`. A series is deleted with all of its occurrences. The identifier of an
    instance cancels only that
    occurrence of its series. `occurrence_start` does the same, but emits `event.updated` and returns
    the series. With
    `scope=following`, the later occurrences of an instance are deleted too, which emits
    `event.updated`. `scope=all`
    deletes its whole series. With `send_invitations=true`, the attendees get a cancellation. Imported
    events are read-only: the answer is 403 `forbidden`.

    Args:
        cal_id (str):
        id (str):
        scope (SeriesScope | Unset): The occurrences that a change of one occurrence of a series
            affects.
        occurrence_start (datetime.datetime | Unset):
        send_invitations (bool | Unset):  Default: False.
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        if_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | AwaitsApproval | ErrorEnvelope | Event]
    """

    kwargs = _get_kwargs(
        cal_id=cal_id,
        id=id,
        scope=scope,
        occurrence_start=occurrence_start,
        send_invitations=send_invitations,
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
    scope: SeriesScope | Unset = UNSET,
    occurrence_start: datetime.datetime | Unset = UNSET,
    send_invitations: bool | Unset = False,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Any | AwaitsApproval | ErrorEnvelope | Event | None:
    """Deletes an event.

     Emits `event.deleted`. A series is deleted with all of its occurrences. The identifier of an
    instance cancels only that
    occurrence of its series. `occurrence_start` does the same, but emits `event.updated` and returns
    the series. With
    `scope=following`, the later occurrences of an instance are deleted too, which emits
    `event.updated`. `scope=all`
    deletes its whole series. With `send_invitations=true`, the attendees get a cancellation. Imported
    events are read-only: the answer is 403 `forbidden`.

    Args:
        cal_id (str):
        id (str):
        scope (SeriesScope | Unset): The occurrences that a change of one occurrence of a series
            affects.
        occurrence_start (datetime.datetime | Unset):
        send_invitations (bool | Unset):  Default: False.
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        if_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | AwaitsApproval | ErrorEnvelope | Event
    """

    return sync_detailed(
        cal_id=cal_id,
        id=id,
        client=client,
        scope=scope,
        occurrence_start=occurrence_start,
        send_invitations=send_invitations,
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
    scope: SeriesScope | Unset = UNSET,
    occurrence_start: datetime.datetime | Unset = UNSET,
    send_invitations: bool | Unset = False,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[Any | AwaitsApproval | ErrorEnvelope | Event]:
    """Deletes an event.

     Emits `event.deleted`. A series is deleted with all of its occurrences. The identifier of an
    instance cancels only that
    occurrence of its series. `occurrence_start` does the same, but emits `event.updated` and returns
    the series. With
    `scope=following`, the later occurrences of an instance are deleted too, which emits
    `event.updated`. `scope=all`
    deletes its whole series. With `send_invitations=true`, the attendees get a cancellation. Imported
    events are read-only: the answer is 403 `forbidden`.

    Args:
        cal_id (str):
        id (str):
        scope (SeriesScope | Unset): The occurrences that a change of one occurrence of a series
            affects.
        occurrence_start (datetime.datetime | Unset):
        send_invitations (bool | Unset):  Default: False.
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        if_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | AwaitsApproval | ErrorEnvelope | Event]
    """

    kwargs = _get_kwargs(
        cal_id=cal_id,
        id=id,
        scope=scope,
        occurrence_start=occurrence_start,
        send_invitations=send_invitations,
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
    scope: SeriesScope | Unset = UNSET,
    occurrence_start: datetime.datetime | Unset = UNSET,
    send_invitations: bool | Unset = False,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Any | AwaitsApproval | ErrorEnvelope | Event | None:
    """Deletes an event.

     Emits `event.deleted`. A series is deleted with all of its occurrences. The identifier of an
    instance cancels only that
    occurrence of its series. `occurrence_start` does the same, but emits `event.updated` and returns
    the series. With
    `scope=following`, the later occurrences of an instance are deleted too, which emits
    `event.updated`. `scope=all`
    deletes its whole series. With `send_invitations=true`, the attendees get a cancellation. Imported
    events are read-only: the answer is 403 `forbidden`.

    Args:
        cal_id (str):
        id (str):
        scope (SeriesScope | Unset): The occurrences that a change of one occurrence of a series
            affects.
        occurrence_start (datetime.datetime | Unset):
        send_invitations (bool | Unset):  Default: False.
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        if_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | AwaitsApproval | ErrorEnvelope | Event
    """

    return (
        await asyncio_detailed(
            cal_id=cal_id,
            id=id,
            client=client,
            scope=scope,
            occurrence_start=occurrence_start,
            send_invitations=send_invitations,
            local=local,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
            kalends_run=kalends_run,
            if_match=if_match,
        )
    ).parsed
