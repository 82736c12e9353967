from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.email_verified import EmailVerified
from ...models.error_envelope import ErrorEnvelope
from ...models.verify_email import VerifyEmail
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: VerifyEmail,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/auth/verify-email",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> EmailVerified | ErrorEnvelope:
    if response.status_code == 200:
        response_200 = EmailVerified.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[EmailVerified | ErrorEnvelope]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: VerifyEmail,
    idempotency_key: str | Unset = UNSET,
) -> Response[EmailVerified | ErrorEnvelope]:
    """Proves the address of a user with the token from the email.

     No other credential is needed. The token works for 24 hours; repeating the request changes nothing
    and returns the
    same answer. The organization that the user signed up then gets the limits of its plan and can
    invite people. If the
    token is unknown, voided by a later one or older than 24 hours, the answer is 400 with `param`
    `token`. If another
    user has proved the same address first, the answer is 409, code `email_taken`. If the request is a
    form, the answer is
    HTML: first what the token proves, with a form that proves it.

    Args:
        idempotency_key (str | Unset):
        body (VerifyEmail): The fields of a proof of an address.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EmailVerified | ErrorEnvelope]
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
    body: VerifyEmail,
    idempotency_key: str | Unset = UNSET,
) -> EmailVerified | ErrorEnvelope | None:
    """Proves the address of a user with the token from the email.

     No other credential is needed. The token works for 24 hours; repeating the request changes nothing
    and returns the
    same answer. The organization that the user signed up then gets the limits of its plan and can
    invite people. If the
    token is unknown, voided by a later one or older than 24 hours, the answer is 400 with `param`
    `token`. If another
    user has proved the same address first, the answer is 409, code `email_taken`. If the request is a
    form, the answer is
    HTML: first what the token proves, with a form that proves it.

    Args:
        idempotency_key (str | Unset):
        body (VerifyEmail): The fields of a proof of an address.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EmailVerified | ErrorEnvelope
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: VerifyEmail,
    idempotency_key: str | Unset = UNSET,
) -> Response[EmailVerified | ErrorEnvelope]:
    """Proves the address of a user with the token from the email.

     No other credential is needed. The token works for 24 hours; repeating the request changes nothing
    and returns the
    same answer. The organization that the user signed up then gets the limits of its plan and can
    invite people. If the
    token is unknown, voided by a later one or older than 24 hours, the answer is 400 with `param`
    `token`. If another
    user has proved the same address first, the answer is 409, code `email_taken`. If the request is a
    form, the answer is
    HTML: first what the token proves, with a form that proves it.

    Args:
        idempotency_key (str | Unset):
        body (VerifyEmail): The fields of a proof of an address.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EmailVerified | ErrorEnvelope]
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
    body: VerifyEmail,
    idempotency_key: str | Unset = UNSET,
) -> EmailVerified | ErrorEnvelope | None:
    """Proves the address of a user with the token from the email.

     No other credential is needed. The token works for 24 hours; repeating the request changes nothing
    and returns the
    same answer. The organization that the user signed up then gets the limits of its plan and can
    invite people. If the
    token is unknown, voided by a later one or older than 24 hours, the answer is 400 with `param`
    `token`. If another
    user has proved the same address first, the answer is 409, code `email_taken`. If the request is a
    form, the answer is
    HTML: first what the token proves, with a form that proves it.

    Args:
        idempotency_key (str | Unset):
        body (VerifyEmail): The fields of a proof of an address.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EmailVerified | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
