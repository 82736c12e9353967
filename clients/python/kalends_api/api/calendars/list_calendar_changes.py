from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.changes import Changes
from ...models.error_envelope import ErrorEnvelope
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    since: str | Unset = UNSET,
    limit: int | Unset = 50,
    local: bool | Unset = False,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["since"] = since

    params["limit"] = limit

    params["local"] = local

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/calendars/{id}/changes".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Changes | ErrorEnvelope:
    if response.status_code == 200:
        response_200 = Changes.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Changes | ErrorEnvelope]:
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
    since: str | Unset = UNSET,
    limit: int | Unset = 50,
    local: bool | Unset = False,
) -> Response[Changes | ErrorEnvelope]:
    """Lists what changed on a calendar, to keep a copy up to date.

     Without `since`, the answer lists everything. With the `next` token of the previous answer as
    `since`, it lists
    what changed since then, with each event once in its current state. Apply `data` in order: an event
    replaces the
    one with the same `id` in the copy, and `deleted` removes it. A series is listed once with its rule,
    and its
    changed occurrences are listed as separate instances. While `has_more` is true, continue at once;
    after that,
    continue whenever you like. 410 `conflict`, code `resync`, means that the token is of another
    calendar or older
    than the 30 days for which deletions are kept. Then empty the copy and start again without `since`.

    Args:
        id (str):
        since (str | Unset):
        limit (int | Unset):  Default: 50.
        local (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Changes | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        since=since,
        limit=limit,
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
    since: str | Unset = UNSET,
    limit: int | Unset = 50,
    local: bool | Unset = False,
) -> Changes | ErrorEnvelope | None:
    """Lists what changed on a calendar, to keep a copy up to date.

     Without `since`, the answer lists everything. With the `next` token of the previous answer as
    `since`, it lists
    what changed since then, with each event once in its current state. Apply `data` in order: an event
    replaces the
    one with the same `id` in the copy, and `deleted` removes it. A series is listed once with its rule,
    and its
    changed occurrences are listed as separate instances. While `has_more` is true, continue at once;
    after that,
    continue whenever you like. 410 `conflict`, code `resync`, means that the token is of another
    calendar or older
    than the 30 days for which deletions are kept. Then empty the copy and start again without `since`.

    Args:
        id (str):
        since (str | Unset):
        limit (int | Unset):  Default: 50.
        local (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Changes | ErrorEnvelope
    """

    return sync_detailed(
        id=id,
        client=client,
        since=since,
        limit=limit,
        local=local,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    since: str | Unset = UNSET,
    limit: int | Unset = 50,
    local: bool | Unset = False,
) -> Response[Changes | ErrorEnvelope]:
    """Lists what changed on a calendar, to keep a copy up to date.

     Without `since`, the answer lists everything. With the `next` token of the previous answer as
    `since`, it lists
    what changed since then, with each event once in its current state. Apply `data` in order: an event
    replaces the
    one with the same `id` in the copy, and `deleted` removes it. A series is listed once with its rule,
    and its
    changed occurrences are listed as separate instances. While `has_more` is true, continue at once;
    after that,
    continue whenever you like. 410 `conflict`, code `resync`, means that the token is of another
    calendar or older
    than the 30 days for which deletions are kept. Then empty the copy and start again without `since`.

    Args:
        id (str):
        since (str | Unset):
        limit (int | Unset):  Default: 50.
        local (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Changes | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        since=since,
        limit=limit,
        local=local,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    since: str | Unset = UNSET,
    limit: int | Unset = 50,
    local: bool | Unset = False,
) -> Changes | ErrorEnvelope | None:
    """Lists what changed on a calendar, to keep a copy up to date.

     Without `since`, the answer lists everything. With the `next` token of the previous answer as
    `since`, it lists
    what changed since then, with each event once in its current state. Apply `data` in order: an event
    replaces the
    one with the same `id` in the copy, and `deleted` removes it. A series is listed once with its rule,
    and its
    changed occurrences are listed as separate instances. While `has_more` is true, continue at once;
    after that,
    continue whenever you like. 410 `conflict`, code `resync`, means that the token is of another
    calendar or older
    than the 30 days for which deletions are kept. Then empty the copy and start again without `since`.

    Args:
        id (str):
        since (str | Unset):
        limit (int | Unset):  Default: 50.
        local (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Changes | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            since=since,
            limit=limit,
            local=local,
        )
    ).parsed
