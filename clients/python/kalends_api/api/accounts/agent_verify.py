from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.verified import Verified
from ...models.verify import Verify
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: Verify,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/agent/verify",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | Verified:
    if response.status_code == 200:
        response_200 = Verified.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | Verified]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: Verify,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | Verified]:
    """Verifies the organization with the code from the email.

     From then on, the limits of the free plan apply. The key stays the same. A code is valid for 10
    minutes and 10
    attempts. To get a new one, sign up again with the same address.

    Args:
        idempotency_key (str | Unset):
        body (Verify): A verification code.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | Verified]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: Verify,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | Verified | None:
    """Verifies the organization with the code from the email.

     From then on, the limits of the free plan apply. The key stays the same. A code is valid for 10
    minutes and 10
    attempts. To get a new one, sign up again with the same address.

    Args:
        idempotency_key (str | Unset):
        body (Verify): A verification code.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | Verified
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: Verify,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | Verified]:
    """Verifies the organization with the code from the email.

     From then on, the limits of the free plan apply. The key stays the same. A code is valid for 10
    minutes and 10
    attempts. To get a new one, sign up again with the same address.

    Args:
        idempotency_key (str | Unset):
        body (Verify): A verification code.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | Verified]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: Verify,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | Verified | None:
    """Verifies the organization with the code from the email.

     From then on, the limits of the free plan apply. The key stays the same. A code is valid for 10
    minutes and 10
    attempts. To get a new one, sign up again with the same address.

    Args:
        idempotency_key (str | Unset):
        body (Verify): A verification code.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | Verified
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
