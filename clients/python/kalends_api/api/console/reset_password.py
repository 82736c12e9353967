from http import HTTPStatus
from typing import Any, cast

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.reset_password import ResetPassword
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: ResetPassword,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/auth/password/reset",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | ErrorEnvelope:
    if response.status_code == 204:
        response_204 = cast(Any, None)
        return response_204

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Any | ErrorEnvelope]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: ResetPassword,
    idempotency_key: str | Unset = UNSET,
) -> Response[Any | ErrorEnvelope]:
    """Sets the password of an account with the token from an email.

     No other credential is needed. All of the user's sessions end with their next request, and the
    address counts as
    verified. If the token is unknown, used, voided by a later one or older than an hour, the answer is
    400 with `param`
    `token`.

    Args:
        idempotency_key (str | Unset):
        body (ResetPassword): The fields of a password reset.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | ErrorEnvelope]
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
    client: AuthenticatedClient | Client,
    body: ResetPassword,
    idempotency_key: str | Unset = UNSET,
) -> Any | ErrorEnvelope | None:
    """Sets the password of an account with the token from an email.

     No other credential is needed. All of the user's sessions end with their next request, and the
    address counts as
    verified. If the token is unknown, used, voided by a later one or older than an hour, the answer is
    400 with `param`
    `token`.

    Args:
        idempotency_key (str | Unset):
        body (ResetPassword): The fields of a password reset.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | ErrorEnvelope
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: ResetPassword,
    idempotency_key: str | Unset = UNSET,
) -> Response[Any | ErrorEnvelope]:
    """Sets the password of an account with the token from an email.

     No other credential is needed. All of the user's sessions end with their next request, and the
    address counts as
    verified. If the token is unknown, used, voided by a later one or older than an hour, the answer is
    400 with `param`
    `token`.

    Args:
        idempotency_key (str | Unset):
        body (ResetPassword): The fields of a password reset.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: ResetPassword,
    idempotency_key: str | Unset = UNSET,
) -> Any | ErrorEnvelope | None:
    """Sets the password of an account with the token from an email.

     No other credential is needed. All of the user's sessions end with their next request, and the
    address counts as
    verified. If the token is unknown, used, voided by a later one or older than an hour, the answer is
    400 with `param`
    `token`.

    Args:
        idempotency_key (str | Unset):
        body (ResetPassword): The fields of a password reset.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
