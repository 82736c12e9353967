from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.join_waitlist import JoinWaitlist
from ...models.joined_waitlist import JoinedWaitlist
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: JoinWaitlist,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/waitlist",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | JoinedWaitlist:
    if response.status_code == 200:
        response_200 = JoinedWaitlist.from_dict(response.json())

        return response_200

    if response.status_code == 201:
        response_201 = JoinedWaitlist.from_dict(response.json())

        return response_201

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | JoinedWaitlist]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: JoinWaitlist,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | JoinedWaitlist]:
    """Joins the waiting list.

     A new address gets 201 and a confirmation by mail. An address that is already waiting gets 200 and
    no second mail.
    An address that has an account gets 409, code `email_taken`. You get an email when the account is
    activated.

    Args:
        idempotency_key (str | Unset):
        body (JoinWaitlist): The fields of a request to join the waiting list.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | JoinedWaitlist]
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
    body: JoinWaitlist,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | JoinedWaitlist | None:
    """Joins the waiting list.

     A new address gets 201 and a confirmation by mail. An address that is already waiting gets 200 and
    no second mail.
    An address that has an account gets 409, code `email_taken`. You get an email when the account is
    activated.

    Args:
        idempotency_key (str | Unset):
        body (JoinWaitlist): The fields of a request to join the waiting list.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | JoinedWaitlist
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: JoinWaitlist,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | JoinedWaitlist]:
    """Joins the waiting list.

     A new address gets 201 and a confirmation by mail. An address that is already waiting gets 200 and
    no second mail.
    An address that has an account gets 409, code `email_taken`. You get an email when the account is
    activated.

    Args:
        idempotency_key (str | Unset):
        body (JoinWaitlist): The fields of a request to join the waiting list.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | JoinedWaitlist]
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
    body: JoinWaitlist,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | JoinedWaitlist | None:
    """Joins the waiting list.

     A new address gets 201 and a confirmation by mail. An address that is already waiting gets 200 and
    no second mail.
    An address that has an account gets 409, code `email_taken`. You get an email when the account is
    activated.

    Args:
        idempotency_key (str | Unset):
        body (JoinWaitlist): The fields of a request to join the waiting list.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | JoinedWaitlist
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
