from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.attendee import Attendee
from ...models.error_envelope import ErrorEnvelope
from ...models.submit_reply import SubmitReply
from ...types import UNSET, Response, Unset


def _get_kwargs(
    token: str,
    *,
    body: SubmitReply,
    tz: str | Unset = UNSET,
    lang: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["tz"] = tz

    params["lang"] = lang

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/rsvp/{token}".format(
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
) -> Attendee | ErrorEnvelope:
    if response.status_code == 200:
        response_200 = Attendee.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Attendee | ErrorEnvelope]:
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
    body: SubmitReply,
    tz: str | Unset = UNSET,
    lang: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Attendee | ErrorEnvelope]:
    """Replies to an invitation, as its attendee.

     The reply is recorded in the `attendees` of the event, and emits `event.attendee_responded`. A later
    reply replaces it.
    The same reply again changes nothing; a note is passed on each time. If the event is cancelled or
    over, the answer is
    409 `conflict`, code `invitation_over`. If the request is a form, the answer is HTML.

    Args:
        token (str):
        tz (str | Unset):
        lang (str | Unset):
        idempotency_key (str | Unset):
        body (SubmitReply): A reply to an invitation.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Attendee | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        token=token,
        body=body,
        tz=tz,
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
    body: SubmitReply,
    tz: str | Unset = UNSET,
    lang: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Attendee | ErrorEnvelope | None:
    """Replies to an invitation, as its attendee.

     The reply is recorded in the `attendees` of the event, and emits `event.attendee_responded`. A later
    reply replaces it.
    The same reply again changes nothing; a note is passed on each time. If the event is cancelled or
    over, the answer is
    409 `conflict`, code `invitation_over`. If the request is a form, the answer is HTML.

    Args:
        token (str):
        tz (str | Unset):
        lang (str | Unset):
        idempotency_key (str | Unset):
        body (SubmitReply): A reply to an invitation.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Attendee | ErrorEnvelope
    """

    return sync_detailed(
        token=token,
        client=client,
        body=body,
        tz=tz,
        lang=lang,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    token: str,
    *,
    client: AuthenticatedClient | Client,
    body: SubmitReply,
    tz: str | Unset = UNSET,
    lang: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Attendee | ErrorEnvelope]:
    """Replies to an invitation, as its attendee.

     The reply is recorded in the `attendees` of the event, and emits `event.attendee_responded`. A later
    reply replaces it.
    The same reply again changes nothing; a note is passed on each time. If the event is cancelled or
    over, the answer is
    409 `conflict`, code `invitation_over`. If the request is a form, the answer is HTML.

    Args:
        token (str):
        tz (str | Unset):
        lang (str | Unset):
        idempotency_key (str | Unset):
        body (SubmitReply): A reply to an invitation.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Attendee | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        token=token,
        body=body,
        tz=tz,
        lang=lang,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    token: str,
    *,
    client: AuthenticatedClient | Client,
    body: SubmitReply,
    tz: str | Unset = UNSET,
    lang: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Attendee | ErrorEnvelope | None:
    """Replies to an invitation, as its attendee.

     The reply is recorded in the `attendees` of the event, and emits `event.attendee_responded`. A later
    reply replaces it.
    The same reply again changes nothing; a note is passed on each time. If the event is cancelled or
    over, the answer is
    409 `conflict`, code `invitation_over`. If the request is a form, the answer is HTML.

    Args:
        token (str):
        tz (str | Unset):
        lang (str | Unset):
        idempotency_key (str | Unset):
        body (SubmitReply): A reply to an invitation.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Attendee | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            token=token,
            client=client,
            body=body,
            tz=tz,
            lang=lang,
            idempotency_key=idempotency_key,
        )
    ).parsed
