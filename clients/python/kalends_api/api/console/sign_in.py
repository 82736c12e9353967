from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.sign_in import SignIn
from ...models.signed_in import SignedIn
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: SignIn,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/auth/signin",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | SignedIn:
    if response.status_code == 200:
        response_200 = SignedIn.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | SignedIn]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: SignIn,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | SignedIn]:
    """Signs a user in. The session is returned in a cookie and as a token.

     The session lasts 12 hours and starts in the organization that the user has belonged to longest. A
    wrong address and a
    wrong password get the same 401 `authentication_error`. The limits are 10 attempts per minute and
    address, and 10
    wrong passwords per minute and account from all addresses. Beyond them, the answer is 429, whether
    or not the
    account exists.

    If the user's second factor is on, a right password needs a `code` too. Without one, the answer is
    401, code
    `second_factor_required`; with a wrong one, code `second_factor_wrong`. After 10 wrong codes in an
    hour, it is 429.

    Args:
        idempotency_key (str | Unset):
        body (SignIn): The fields of a sign-in.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | SignedIn]
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
    body: SignIn,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | SignedIn | None:
    """Signs a user in. The session is returned in a cookie and as a token.

     The session lasts 12 hours and starts in the organization that the user has belonged to longest. A
    wrong address and a
    wrong password get the same 401 `authentication_error`. The limits are 10 attempts per minute and
    address, and 10
    wrong passwords per minute and account from all addresses. Beyond them, the answer is 429, whether
    or not the
    account exists.

    If the user's second factor is on, a right password needs a `code` too. Without one, the answer is
    401, code
    `second_factor_required`; with a wrong one, code `second_factor_wrong`. After 10 wrong codes in an
    hour, it is 429.

    Args:
        idempotency_key (str | Unset):
        body (SignIn): The fields of a sign-in.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | SignedIn
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: SignIn,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | SignedIn]:
    """Signs a user in. The session is returned in a cookie and as a token.

     The session lasts 12 hours and starts in the organization that the user has belonged to longest. A
    wrong address and a
    wrong password get the same 401 `authentication_error`. The limits are 10 attempts per minute and
    address, and 10
    wrong passwords per minute and account from all addresses. Beyond them, the answer is 429, whether
    or not the
    account exists.

    If the user's second factor is on, a right password needs a `code` too. Without one, the answer is
    401, code
    `second_factor_required`; with a wrong one, code `second_factor_wrong`. After 10 wrong codes in an
    hour, it is 429.

    Args:
        idempotency_key (str | Unset):
        body (SignIn): The fields of a sign-in.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | SignedIn]
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
    body: SignIn,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | SignedIn | None:
    """Signs a user in. The session is returned in a cookie and as a token.

     The session lasts 12 hours and starts in the organization that the user has belonged to longest. A
    wrong address and a
    wrong password get the same 401 `authentication_error`. The limits are 10 attempts per minute and
    address, and 10
    wrong passwords per minute and account from all addresses. Beyond them, the answer is 429, whether
    or not the
    account exists.

    If the user's second factor is on, a right password needs a `code` too. Without one, the answer is
    401, code
    `second_factor_required`; with a wrong one, code `second_factor_wrong`. After 10 wrong codes in an
    hour, it is 429.

    Args:
        idempotency_key (str | Unset):
        body (SignIn): The fields of a sign-in.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | SignedIn
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
