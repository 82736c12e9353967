from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.import_report import ImportReport
from ...types import UNSET, File, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: File,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["dry_run"] = dry_run

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/calendars/{id}/import".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    _kwargs["content"] = body.payload
    headers["Content-Type"] = "text/calendar"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | ImportReport:
    if response.status_code == 200:
        response_200 = ImportReport.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | ImportReport]:
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
    body: File,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | ImportReport]:
    """Imports an iCalendar file into a calendar.

     The body is the file (`text/calendar`, at most 10 MiB and 20,000 events). Its events become ordinary
    events of
    this calendar: they can be changed, they emit webhook events, and each new one counts against the
    month's events.
    Events are identified by their `UID`. If a file is imported again, an event is changed only if the
    file has
    changed since the last import. Nothing is deleted. A series whose rule is not supported is replaced
    by its
    occurrences from a year ago to two years ahead. A calendar that refuses conflicts leaves out events
    whose time is
    taken, and the answer lists them in `refused`. Events are committed 500 at a time: after an error
    such as 429
    `quota_exceeded`, the earlier batches stay, and the same file can be imported again.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ImportReport]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    body: File,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | ImportReport | None:
    """Imports an iCalendar file into a calendar.

     The body is the file (`text/calendar`, at most 10 MiB and 20,000 events). Its events become ordinary
    events of
    this calendar: they can be changed, they emit webhook events, and each new one counts against the
    month's events.
    Events are identified by their `UID`. If a file is imported again, an event is changed only if the
    file has
    changed since the last import. Nothing is deleted. A series whose rule is not supported is replaced
    by its
    occurrences from a year ago to two years ahead. A calendar that refuses conflicts leaves out events
    whose time is
    taken, and the answer lists them in `refused`. Events are committed 500 at a time: after an error
    such as 429
    `quota_exceeded`, the earlier batches stay, and the same file can be imported again.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ImportReport
    """

    return sync_detailed(
        id=id,
        client=client,
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: File,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | ImportReport]:
    """Imports an iCalendar file into a calendar.

     The body is the file (`text/calendar`, at most 10 MiB and 20,000 events). Its events become ordinary
    events of
    this calendar: they can be changed, they emit webhook events, and each new one counts against the
    month's events.
    Events are identified by their `UID`. If a file is imported again, an event is changed only if the
    file has
    changed since the last import. Nothing is deleted. A series whose rule is not supported is replaced
    by its
    occurrences from a year ago to two years ahead. A calendar that refuses conflicts leaves out events
    whose time is
    taken, and the answer lists them in `refused`. Events are committed 500 at a time: after an error
    such as 429
    `quota_exceeded`, the earlier batches stay, and the same file can be imported again.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ImportReport]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    body: File,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | ImportReport | None:
    """Imports an iCalendar file into a calendar.

     The body is the file (`text/calendar`, at most 10 MiB and 20,000 events). Its events become ordinary
    events of
    this calendar: they can be changed, they emit webhook events, and each new one counts against the
    month's events.
    Events are identified by their `UID`. If a file is imported again, an event is changed only if the
    file has
    changed since the last import. Nothing is deleted. A series whose rule is not supported is replaced
    by its
    occurrences from a year ago to two years ahead. A calendar that refuses conflicts leaves out events
    whose time is
    taken, and the answer lists them in `refused`. Events are committed 500 at a time: after an error
    such as 429
    `quota_exceeded`, the earlier batches stay, and the same file can be imported again.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ImportReport
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
        )
    ).parsed
