from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.sign_up import SignUp
from ...models.sign_up_existing import SignUpExisting
from ...models.signed_up import SignedUp
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: SignUp,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/agent/sign-up",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | SignedUp | SignUpExisting:
    if response.status_code == 200:

        def _parse_response_200(data: object) -> SignedUp | SignUpExisting:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_sign_up_answer_type_0 = SignedUp.from_dict(data)

                return componentsschemas_sign_up_answer_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_sign_up_answer_type_1 = SignUpExisting.from_dict(data)

            return componentsschemas_sign_up_answer_type_1

        response_200 = _parse_response_200(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | SignedUp | SignUpExisting]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: SignUp,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | SignedUp | SignUpExisting]:
    """Signs an agent up.

     A new address gets an organization in the sandbox, its first agent and its key, which works at once.
    A verification
    code follows by mail. A known address gets only the message, which is the same for all addresses.

    Args:
        idempotency_key (str | Unset):
        body (SignUp): The fields of a sign-up.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | SignedUp | SignUpExisting]
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
    body: SignUp,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | SignedUp | SignUpExisting | None:
    """Signs an agent up.

     A new address gets an organization in the sandbox, its first agent and its key, which works at once.
    A verification
    code follows by mail. A known address gets only the message, which is the same for all addresses.

    Args:
        idempotency_key (str | Unset):
        body (SignUp): The fields of a sign-up.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | SignedUp | SignUpExisting
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: SignUp,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | SignedUp | SignUpExisting]:
    """Signs an agent up.

     A new address gets an organization in the sandbox, its first agent and its key, which works at once.
    A verification
    code follows by mail. A known address gets only the message, which is the same for all addresses.

    Args:
        idempotency_key (str | Unset):
        body (SignUp): The fields of a sign-up.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | SignedUp | SignUpExisting]
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
    body: SignUp,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | SignedUp | SignUpExisting | None:
    """Signs an agent up.

     A new address gets an organization in the sandbox, its first agent and its key, which works at once.
    A verification
    code follows by mail. A known address gets only the message, which is the same for all addresses.

    Args:
        idempotency_key (str | Unset):
        body (SignUp): The fields of a sign-up.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | SignedUp | SignUpExisting
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
