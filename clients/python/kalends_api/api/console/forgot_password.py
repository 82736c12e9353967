from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.forgot_password import ForgotPassword
from ...models.password_forgotten import PasswordForgotten
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: ForgotPassword,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/auth/password/forgot",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | PasswordForgotten:
    if response.status_code == 202:
        response_202 = PasswordForgotten.from_dict(response.json())

        return response_202

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | PasswordForgotten]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: ForgotPassword,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | PasswordForgotten]:
    """Mails a link with a token that sets the password of an account.

     A user who signs in with a provider and has no password can set a first one this way.

    The token is valid once, for one hour. A new token voids the previous one. The answer is the same
    for every address,
    whether or not there is an account. After the fifth request in an hour, the answer is still the
    same, but no more
    mail is sent.

    Args:
        idempotency_key (str | Unset):
        body (ForgotPassword): The address of an account whose password is forgotten.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PasswordForgotten]
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
    body: ForgotPassword,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | PasswordForgotten | None:
    """Mails a link with a token that sets the password of an account.

     A user who signs in with a provider and has no password can set a first one this way.

    The token is valid once, for one hour. A new token voids the previous one. The answer is the same
    for every address,
    whether or not there is an account. After the fifth request in an hour, the answer is still the
    same, but no more
    mail is sent.

    Args:
        idempotency_key (str | Unset):
        body (ForgotPassword): The address of an account whose password is forgotten.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PasswordForgotten
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: ForgotPassword,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | PasswordForgotten]:
    """Mails a link with a token that sets the password of an account.

     A user who signs in with a provider and has no password can set a first one this way.

    The token is valid once, for one hour. A new token voids the previous one. The answer is the same
    for every address,
    whether or not there is an account. After the fifth request in an hour, the answer is still the
    same, but no more
    mail is sent.

    Args:
        idempotency_key (str | Unset):
        body (ForgotPassword): The address of an account whose password is forgotten.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PasswordForgotten]
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
    body: ForgotPassword,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | PasswordForgotten | None:
    """Mails a link with a token that sets the password of an account.

     A user who signs in with a provider and has no password can set a first one this way.

    The token is valid once, for one hour. A new token voids the previous one. The answer is the same
    for every address,
    whether or not there is an account. After the fifth request in an hour, the answer is still the
    same, but no more
    mail is sent.

    Args:
        idempotency_key (str | Unset):
        body (ForgotPassword): The address of an account whose password is forgotten.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PasswordForgotten
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
