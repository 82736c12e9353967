from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.answer_reply_link import AnswerReplyLink
from ...models.answered_reply_link import AnsweredReplyLink
from ...models.error_envelope import ErrorEnvelope
from ...types import UNSET, Response, Unset


def _get_kwargs(
    token: str,
    *,
    body: AnswerReplyLink,
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
        "url": "/replies/{token}".format(
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
) -> AnsweredReplyLink | ErrorEnvelope:
    if response.status_code == 200:
        response_200 = AnsweredReplyLink.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AnsweredReplyLink | ErrorEnvelope]:
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
    body: AnswerReplyLink,
    lang: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[AnsweredReplyLink | ErrorEnvelope]:
    """Records whether replies to an organization's emails may go to the address that the link was mailed
    to.

     The same answer again changes nothing. `false` also ends replies that went there before; the link
    then opens nothing.
    If the request is a form, the answer is HTML.

    Args:
        token (str):
        lang (str | Unset):
        idempotency_key (str | Unset):
        body (AnswerReplyLink): The answer of an address that was asked whether replies may go to
            it.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AnsweredReplyLink | ErrorEnvelope]
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
    body: AnswerReplyLink,
    lang: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> AnsweredReplyLink | ErrorEnvelope | None:
    """Records whether replies to an organization's emails may go to the address that the link was mailed
    to.

     The same answer again changes nothing. `false` also ends replies that went there before; the link
    then opens nothing.
    If the request is a form, the answer is HTML.

    Args:
        token (str):
        lang (str | Unset):
        idempotency_key (str | Unset):
        body (AnswerReplyLink): The answer of an address that was asked whether replies may go to
            it.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AnsweredReplyLink | ErrorEnvelope
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
    body: AnswerReplyLink,
    lang: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[AnsweredReplyLink | ErrorEnvelope]:
    """Records whether replies to an organization's emails may go to the address that the link was mailed
    to.

     The same answer again changes nothing. `false` also ends replies that went there before; the link
    then opens nothing.
    If the request is a form, the answer is HTML.

    Args:
        token (str):
        lang (str | Unset):
        idempotency_key (str | Unset):
        body (AnswerReplyLink): The answer of an address that was asked whether replies may go to
            it.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AnsweredReplyLink | ErrorEnvelope]
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
    body: AnswerReplyLink,
    lang: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> AnsweredReplyLink | ErrorEnvelope | None:
    """Records whether replies to an organization's emails may go to the address that the link was mailed
    to.

     The same answer again changes nothing. `false` also ends replies that went there before; the link
    then opens nothing.
    If the request is a form, the answer is HTML.

    Args:
        token (str):
        lang (str | Unset):
        idempotency_key (str | Unset):
        body (AnswerReplyLink): The answer of an address that was asked whether replies may go to
            it.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AnsweredReplyLink | ErrorEnvelope
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
