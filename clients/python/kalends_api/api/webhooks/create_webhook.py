from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.create_webhook import CreateWebhook
from ...models.error_envelope import ErrorEnvelope
from ...models.new_webhook import NewWebhook
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: CreateWebhook,
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
        "url": "/v1/webhooks",
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | NewWebhook:
    if response.status_code == 201:
        response_201 = NewWebhook.from_dict(response.json())

        return response_201

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | NewWebhook]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateWebhook,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | NewWebhook]:
    """Creates a webhook endpoint.

     From now on, messages about events are posted to it. `webhooks` in this description lists the
    messages. The secret
    is shown only in this answer. If the plan's number of endpoints is exceeded, the answer is 429
    `quota_exceeded`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateWebhook): The fields of a new webhook endpoint.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | NewWebhook]
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
    body: CreateWebhook,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | NewWebhook | None:
    """Creates a webhook endpoint.

     From now on, messages about events are posted to it. `webhooks` in this description lists the
    messages. The secret
    is shown only in this answer. If the plan's number of endpoints is exceeded, the answer is 429
    `quota_exceeded`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateWebhook): The fields of a new webhook endpoint.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | NewWebhook
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
    body: CreateWebhook,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | NewWebhook]:
    """Creates a webhook endpoint.

     From now on, messages about events are posted to it. `webhooks` in this description lists the
    messages. The secret
    is shown only in this answer. If the plan's number of endpoints is exceeded, the answer is 429
    `quota_exceeded`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateWebhook): The fields of a new webhook endpoint.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | NewWebhook]
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
    body: CreateWebhook,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | NewWebhook | None:
    """Creates a webhook endpoint.

     From now on, messages about events are posted to it. `webhooks` in this description lists the
    messages. The secret
    is shown only in this answer. If the plan's number of endpoints is exceeded, the answer is 429
    `quota_exceeded`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateWebhook): The fields of a new webhook endpoint.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | NewWebhook
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
        )
    ).parsed
