from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.awaits_approval import AwaitsApproval
from ...models.error_envelope import ErrorEnvelope
from ...models.put_reply_to import PutReplyTo
from ...models.reply_to import ReplyTo
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: PutReplyTo,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["dry_run"] = dry_run

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/v1/mail/reply-to",
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AwaitsApproval | ErrorEnvelope | ReplyTo:
    if response.status_code == 200:
        response_200 = ReplyTo.from_dict(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = AwaitsApproval.from_dict(response.json())

        return response_202

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AwaitsApproval | ErrorEnvelope | ReplyTo]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: PutReplyTo,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | ReplyTo]:
    """Asks an address by email whether replies to the organization's emails may go to it.

     The email has a link to agree, which works for 7 days. Until then the address that agreed before
    stays in use. An
    address that has agreed already is not asked again.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (PutReplyTo): The address for replies.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | ReplyTo]
    """

    kwargs = _get_kwargs(
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: PutReplyTo,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | ReplyTo | None:
    """Asks an address by email whether replies to the organization's emails may go to it.

     The email has a link to agree, which works for 7 days. Until then the address that agreed before
    stays in use. An
    address that has agreed already is not asked again.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (PutReplyTo): The address for replies.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | ReplyTo
    """

    return sync_detailed(
        client=client,
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: PutReplyTo,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | ReplyTo]:
    """Asks an address by email whether replies to the organization's emails may go to it.

     The email has a link to agree, which works for 7 days. Until then the address that agreed before
    stays in use. An
    address that has agreed already is not asked again.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (PutReplyTo): The address for replies.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | ReplyTo]
    """

    kwargs = _get_kwargs(
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: PutReplyTo,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | ReplyTo | None:
    """Asks an address by email whether replies to the organization's emails may go to it.

     The email has a link to agree, which works for 7 days. Until then the address that agreed before
    stays in use. An
    address that has agreed already is not asked again.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (PutReplyTo): The address for replies.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | ReplyTo
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
        )
    ).parsed
