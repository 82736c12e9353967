from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.console_sign_up import ConsoleSignUp
from ...models.console_signed_up import ConsoleSignedUp
from ...models.error_envelope import ErrorEnvelope
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: ConsoleSignUp,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/auth/signup",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ConsoleSignedUp | ErrorEnvelope:
    if response.status_code == 201:
        response_201 = ConsoleSignedUp.from_dict(response.json())

        return response_201

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ConsoleSignedUp | ErrorEnvelope]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: ConsoleSignUp,
    idempotency_key: str | Unset = UNSET,
) -> Response[ConsoleSignedUp | ErrorEnvelope]:
    """Signs a user up with an account, an organization, its key, and a session in a cookie.

     The key is shown only in this answer. If another account has the address, the answer is 409, code
    `email_taken`. If
    the address is on the waiting list, it is 403 `account_waitlisted`. A user who was activated from
    the waiting list
    gets the organization from there. If an agent signed up with the address, its organization stays
    separate until it
    is claimed. If sign-up is not open on this server, the answer is 403, code `signup_closed`; a person
    whom an
    organization invited sends the `invitation_token` from the email, if the server allows that.

    Args:
        idempotency_key (str | Unset):
        body (ConsoleSignUp): The fields of a user's sign-up.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ConsoleSignedUp | ErrorEnvelope]
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
    body: ConsoleSignUp,
    idempotency_key: str | Unset = UNSET,
) -> ConsoleSignedUp | ErrorEnvelope | None:
    """Signs a user up with an account, an organization, its key, and a session in a cookie.

     The key is shown only in this answer. If another account has the address, the answer is 409, code
    `email_taken`. If
    the address is on the waiting list, it is 403 `account_waitlisted`. A user who was activated from
    the waiting list
    gets the organization from there. If an agent signed up with the address, its organization stays
    separate until it
    is claimed. If sign-up is not open on this server, the answer is 403, code `signup_closed`; a person
    whom an
    organization invited sends the `invitation_token` from the email, if the server allows that.

    Args:
        idempotency_key (str | Unset):
        body (ConsoleSignUp): The fields of a user's sign-up.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ConsoleSignedUp | ErrorEnvelope
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: ConsoleSignUp,
    idempotency_key: str | Unset = UNSET,
) -> Response[ConsoleSignedUp | ErrorEnvelope]:
    """Signs a user up with an account, an organization, its key, and a session in a cookie.

     The key is shown only in this answer. If another account has the address, the answer is 409, code
    `email_taken`. If
    the address is on the waiting list, it is 403 `account_waitlisted`. A user who was activated from
    the waiting list
    gets the organization from there. If an agent signed up with the address, its organization stays
    separate until it
    is claimed. If sign-up is not open on this server, the answer is 403, code `signup_closed`; a person
    whom an
    organization invited sends the `invitation_token` from the email, if the server allows that.

    Args:
        idempotency_key (str | Unset):
        body (ConsoleSignUp): The fields of a user's sign-up.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ConsoleSignedUp | ErrorEnvelope]
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
    body: ConsoleSignUp,
    idempotency_key: str | Unset = UNSET,
) -> ConsoleSignedUp | ErrorEnvelope | None:
    """Signs a user up with an account, an organization, its key, and a session in a cookie.

     The key is shown only in this answer. If another account has the address, the answer is 409, code
    `email_taken`. If
    the address is on the waiting list, it is 403 `account_waitlisted`. A user who was activated from
    the waiting list
    gets the organization from there. If an agent signed up with the address, its organization stays
    separate until it
    is claimed. If sign-up is not open on this server, the answer is 403, code `signup_closed`; a person
    whom an
    organization invited sends the `invitation_token` from the email, if the server allows that.

    Args:
        idempotency_key (str | Unset):
        body (ConsoleSignUp): The fields of a user's sign-up.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ConsoleSignedUp | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
