from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.answer_booking_emails import AnswerBookingEmails
from ...models.error_envelope import ErrorEnvelope
from ...models.notify_consent import NotifyConsent
from ...types import UNSET, Response, Unset


def _get_kwargs(
    token: str,
    *,
    body: AnswerBookingEmails,
    lang: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["lang"] = lang

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/book/emails/{token}".format(
            token=quote(str(token), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | NotifyConsent:
    if response.status_code == 200:
        response_200 = NotifyConsent.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | NotifyConsent]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    token: str,
    *,
    client: AuthenticatedClient | Client,
    body: AnswerBookingEmails,
    lang: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | NotifyConsent]:
    """Records whether an address wants emails about the bookings of a page.

     A later answer replaces an earlier one, and the same answer again changes nothing. If the request is
    a form, the answer
    is HTML.

    Args:
        token (str):
        lang (str | Unset):
        idempotency_key (str | Unset):
        body (AnswerBookingEmails): The answer of an address that was asked whether it wants
            emails about the bookings of a page.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | NotifyConsent]
    """

    kwargs = _get_kwargs(
        token=token,
        body=body,
        lang=lang,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    token: str,
    *,
    client: AuthenticatedClient | Client,
    body: AnswerBookingEmails,
    lang: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | NotifyConsent | None:
    """Records whether an address wants emails about the bookings of a page.

     A later answer replaces an earlier one, and the same answer again changes nothing. If the request is
    a form, the answer
    is HTML.

    Args:
        token (str):
        lang (str | Unset):
        idempotency_key (str | Unset):
        body (AnswerBookingEmails): The answer of an address that was asked whether it wants
            emails about the bookings of a page.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | NotifyConsent
    """

    return sync_detailed(
        token=token,
        client=client,
        body=body,
        lang=lang,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    token: str,
    *,
    client: AuthenticatedClient | Client,
    body: AnswerBookingEmails,
    lang: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | NotifyConsent]:
    """Records whether an address wants emails about the bookings of a page.

     A later answer replaces an earlier one, and the same answer again changes nothing. If the request is
    a form, the answer
    is HTML.

    Args:
        token (str):
        lang (str | Unset):
        idempotency_key (str | Unset):
        body (AnswerBookingEmails): The answer of an address that was asked whether it wants
            emails about the bookings of a page.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | NotifyConsent]
    """

    kwargs = _get_kwargs(
        token=token,
        body=body,
        lang=lang,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    token: str,
    *,
    client: AuthenticatedClient | Client,
    body: AnswerBookingEmails,
    lang: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | NotifyConsent | None:
    """Records whether an address wants emails about the bookings of a page.

     A later answer replaces an earlier one, and the same answer again changes nothing. If the request is
    a form, the answer
    is HTML.

    Args:
        token (str):
        lang (str | Unset):
        idempotency_key (str | Unset):
        body (AnswerBookingEmails): The answer of an address that was asked whether it wants
            emails about the bookings of a page.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | NotifyConsent
    """

    return (
        await asyncio_detailed(
            token=token,
            client=client,
            body=body,
            lang=lang,
            idempotency_key=idempotency_key,
        )
    ).parsed
