from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.create_scoped_key import CreateScopedKey
from ...models.error_envelope import ErrorEnvelope
from ...models.new_scoped_key import NewScopedKey
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: CreateScopedKey,
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
        "url": "/v1/keys",
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | NewScopedKey:
    if response.status_code == 201:
        response_201 = NewScopedKey.from_dict(response.json())

        return response_201

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | NewScopedKey]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateScopedKey,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | NewScopedKey]:
    """Creates a key that is scoped to one agent.

     The key itself is shown only in this answer. It gives access to the agent's calendars and everything
    on them, and
    with `scopes` to a little of what belongs to others: `freebusy:org` to when they are busy,
    `directory:org` to their
    names, `holds:org` to hold sets on their calendars. With `requires_approval`, its writes wait until
    a person allows
    them. While the agent is paused, it can only read. Once the agent is decommissioned, it gives no
    access. Requires a
    paid plan. If the plan's number of keys is exceeded, the answer is 429 `quota_exceeded`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateScopedKey): The fields of a new agent-scoped key.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | NewScopedKey]
    """

    kwargs = _get_kwargs(
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: CreateScopedKey,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | NewScopedKey | None:
    """Creates a key that is scoped to one agent.

     The key itself is shown only in this answer. It gives access to the agent's calendars and everything
    on them, and
    with `scopes` to a little of what belongs to others: `freebusy:org` to when they are busy,
    `directory:org` to their
    names, `holds:org` to hold sets on their calendars. With `requires_approval`, its writes wait until
    a person allows
    them. While the agent is paused, it can only read. Once the agent is decommissioned, it gives no
    access. Requires a
    paid plan. If the plan's number of keys is exceeded, the answer is 429 `quota_exceeded`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateScopedKey): The fields of a new agent-scoped key.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | NewScopedKey
    """

    return sync_detailed(
        client=client,
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateScopedKey,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | NewScopedKey]:
    """Creates a key that is scoped to one agent.

     The key itself is shown only in this answer. It gives access to the agent's calendars and everything
    on them, and
    with `scopes` to a little of what belongs to others: `freebusy:org` to when they are busy,
    `directory:org` to their
    names, `holds:org` to hold sets on their calendars. With `requires_approval`, its writes wait until
    a person allows
    them. While the agent is paused, it can only read. Once the agent is decommissioned, it gives no
    access. Requires a
    paid plan. If the plan's number of keys is exceeded, the answer is 429 `quota_exceeded`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateScopedKey): The fields of a new agent-scoped key.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | NewScopedKey]
    """

    kwargs = _get_kwargs(
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: CreateScopedKey,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | NewScopedKey | None:
    """Creates a key that is scoped to one agent.

     The key itself is shown only in this answer. It gives access to the agent's calendars and everything
    on them, and
    with `scopes` to a little of what belongs to others: `freebusy:org` to when they are busy,
    `directory:org` to their
    names, `holds:org` to hold sets on their calendars. With `requires_approval`, its writes wait until
    a person allows
    them. While the agent is paused, it can only read. Once the agent is decommissioned, it gives no
    access. Requires a
    paid plan. If the plan's number of keys is exceeded, the answer is 429 `quota_exceeded`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateScopedKey): The fields of a new agent-scoped key.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | NewScopedKey
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
        )
    ).parsed
