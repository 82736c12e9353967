from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.email_status import EmailStatus
from ...models.error_envelope import ErrorEnvelope
from ...models.mail_list import MailList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    status: EmailStatus | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_status: str | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = status.value

    params["status"] = json_status

    params["cursor"] = cursor

    params["limit"] = limit

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/mail",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | MailList:
    if response.status_code == 200:
        response_200 = MailList.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | MailList]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    status: EmailStatus | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
) -> Response[ErrorEnvelope | MailList]:
    """Lists the emails that Kalends sends for the organization, newest first.

     Only for keys of the organization. The list covers the last 30 days: invitations, what guests and
    hosts of
    bookings get, and questions to addresses. Emails about a person's own account are not in it.
    `last_reply` is what the mail server said last. To
    continue, send `next_cursor` as `cursor` with the same filter until it is null.

    Args:
        status (EmailStatus | Unset): The status of an email.
        cursor (str | Unset):
        limit (int | Unset):  Default: 20.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | MailList]
    """

    kwargs = _get_kwargs(
        status=status,
        cursor=cursor,
        limit=limit,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    status: EmailStatus | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
) -> ErrorEnvelope | MailList | None:
    """Lists the emails that Kalends sends for the organization, newest first.

     Only for keys of the organization. The list covers the last 30 days: invitations, what guests and
    hosts of
    bookings get, and questions to addresses. Emails about a person's own account are not in it.
    `last_reply` is what the mail server said last. To
    continue, send `next_cursor` as `cursor` with the same filter until it is null.

    Args:
        status (EmailStatus | Unset): The status of an email.
        cursor (str | Unset):
        limit (int | Unset):  Default: 20.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | MailList
    """

    return sync_detailed(
        client=client,
        status=status,
        cursor=cursor,
        limit=limit,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    status: EmailStatus | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
) -> Response[ErrorEnvelope | MailList]:
    """Lists the emails that Kalends sends for the organization, newest first.

     Only for keys of the organization. The list covers the last 30 days: invitations, what guests and
    hosts of
    bookings get, and questions to addresses. Emails about a person's own account are not in it.
    `last_reply` is what the mail server said last. To
    continue, send `next_cursor` as `cursor` with the same filter until it is null.

    Args:
        status (EmailStatus | Unset): The status of an email.
        cursor (str | Unset):
        limit (int | Unset):  Default: 20.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | MailList]
    """

    kwargs = _get_kwargs(
        status=status,
        cursor=cursor,
        limit=limit,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    status: EmailStatus | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
) -> ErrorEnvelope | MailList | None:
    """Lists the emails that Kalends sends for the organization, newest first.

     Only for keys of the organization. The list covers the last 30 days: invitations, what guests and
    hosts of
    bookings get, and questions to addresses. Emails about a person's own account are not in it.
    `last_reply` is what the mail server said last. To
    continue, send `next_cursor` as `cursor` with the same filter until it is null.

    Args:
        status (EmailStatus | Unset): The status of an email.
        cursor (str | Unset):
        limit (int | Unset):  Default: 20.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | MailList
    """

    return (
        await asyncio_detailed(
            client=client,
            status=status,
            cursor=cursor,
            limit=limit,
        )
    ).parsed
