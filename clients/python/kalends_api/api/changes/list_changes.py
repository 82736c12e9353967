from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.organization_changes import OrganizationChanges
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    since: str | Unset = UNSET,
    wait: int | Unset = 0,
    types: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["since"] = since

    params["wait"] = wait

    params["types"] = types

    params["limit"] = limit

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/changes",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | OrganizationChanges:
    if response.status_code == 200:
        response_200 = OrganizationChanges.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | OrganizationChanges]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    since: str | Unset = UNSET,
    wait: int | Unset = 0,
    types: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[ErrorEnvelope | OrganizationChanges]:
    """Lists what changed in the organization, in an order that all readers agree on.

     Without `since`, the answer has no entries, and its `next` is the present end. With the `next` of an
    earlier answer
    as `since`, the answer has what changed after it, without gaps. Entries are kept for 7 days. `wait`
    lets the answer
    come as soon as there is something. With `Accept: text/event-stream`, the answer is a stream of
    server-sent events
    that goes on for up to 10 minutes; each event has a token as its `id`, and `Last-Event-ID` counts in
    place of
    `since`. 410 `conflict`, code `resync`, means that the token is not one of the organization, or
    older than 7 days.
    Then ask without `since` for `next`, read everything that you need, and continue from `next`. At
    most 10 requests of
    a key wait at once. A tool call waits for at most 20 seconds. Not for agents' keys.

    Args:
        since (str | Unset):
        wait (int | Unset):  Default: 0.
        types (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | OrganizationChanges]
    """

    kwargs = _get_kwargs(
        since=since,
        wait=wait,
        types=types,
        limit=limit,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    since: str | Unset = UNSET,
    wait: int | Unset = 0,
    types: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> ErrorEnvelope | OrganizationChanges | None:
    """Lists what changed in the organization, in an order that all readers agree on.

     Without `since`, the answer has no entries, and its `next` is the present end. With the `next` of an
    earlier answer
    as `since`, the answer has what changed after it, without gaps. Entries are kept for 7 days. `wait`
    lets the answer
    come as soon as there is something. With `Accept: text/event-stream`, the answer is a stream of
    server-sent events
    that goes on for up to 10 minutes; each event has a token as its `id`, and `Last-Event-ID` counts in
    place of
    `since`. 410 `conflict`, code `resync`, means that the token is not one of the organization, or
    older than 7 days.
    Then ask without `since` for `next`, read everything that you need, and continue from `next`. At
    most 10 requests of
    a key wait at once. A tool call waits for at most 20 seconds. Not for agents' keys.

    Args:
        since (str | Unset):
        wait (int | Unset):  Default: 0.
        types (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | OrganizationChanges
    """

    return sync_detailed(
        client=client,
        since=since,
        wait=wait,
        types=types,
        limit=limit,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    since: str | Unset = UNSET,
    wait: int | Unset = 0,
    types: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[ErrorEnvelope | OrganizationChanges]:
    """Lists what changed in the organization, in an order that all readers agree on.

     Without `since`, the answer has no entries, and its `next` is the present end. With the `next` of an
    earlier answer
    as `since`, the answer has what changed after it, without gaps. Entries are kept for 7 days. `wait`
    lets the answer
    come as soon as there is something. With `Accept: text/event-stream`, the answer is a stream of
    server-sent events
    that goes on for up to 10 minutes; each event has a token as its `id`, and `Last-Event-ID` counts in
    place of
    `since`. 410 `conflict`, code `resync`, means that the token is not one of the organization, or
    older than 7 days.
    Then ask without `since` for `next`, read everything that you need, and continue from `next`. At
    most 10 requests of
    a key wait at once. A tool call waits for at most 20 seconds. Not for agents' keys.

    Args:
        since (str | Unset):
        wait (int | Unset):  Default: 0.
        types (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | OrganizationChanges]
    """

    kwargs = _get_kwargs(
        since=since,
        wait=wait,
        types=types,
        limit=limit,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    since: str | Unset = UNSET,
    wait: int | Unset = 0,
    types: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> ErrorEnvelope | OrganizationChanges | None:
    """Lists what changed in the organization, in an order that all readers agree on.

     Without `since`, the answer has no entries, and its `next` is the present end. With the `next` of an
    earlier answer
    as `since`, the answer has what changed after it, without gaps. Entries are kept for 7 days. `wait`
    lets the answer
    come as soon as there is something. With `Accept: text/event-stream`, the answer is a stream of
    server-sent events
    that goes on for up to 10 minutes; each event has a token as its `id`, and `Last-Event-ID` counts in
    place of
    `since`. 410 `conflict`, code `resync`, means that the token is not one of the organization, or
    older than 7 days.
    Then ask without `since` for `next`, read everything that you need, and continue from `next`. At
    most 10 requests of
    a key wait at once. A tool call waits for at most 20 seconds. Not for agents' keys.

    Args:
        since (str | Unset):
        wait (int | Unset):  Default: 0.
        types (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | OrganizationChanges
    """

    return (
        await asyncio_detailed(
            client=client,
            since=since,
            wait=wait,
            types=types,
            limit=limit,
        )
    ).parsed
