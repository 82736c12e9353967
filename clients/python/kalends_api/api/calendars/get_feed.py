from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...types import Response


def _get_kwargs(
    feed: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/ical/{feed}".format(
            feed=quote(str(feed), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | ErrorEnvelope | str:
    if response.status_code == 200:
        response_200 = cast(str, response.content)
        return response_200

    if response.status_code == 304:
        response_304 = cast(Any, None)
        return response_304

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Any | ErrorEnvelope | str]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    feed: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Any | ErrorEnvelope | str]:
    """Returns a calendar's public feed.

     The address is the calendar's `ical_url`, `/ical/<ical_token>.ics`. It needs no key, so treat the
    address like one.
    The feed contains confirmed and tentative events with titles, descriptions and reminders. Series are
    listed with
    their rule and its exceptions. Holds, cancelled events and imported events are left out. `If-None-
    Match` with the
    `ETag` of the previous answer returns 304 if nothing has changed. An address that was replaced, or
    whose calendar
    was deleted, gets 404. The limit is 120 requests per minute and address.

    Args:
        feed (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | ErrorEnvelope | str]
    """

    kwargs = _get_kwargs(
        feed=feed,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    feed: str,
    *,
    client: AuthenticatedClient | Client,
) -> Any | ErrorEnvelope | str | None:
    """Returns a calendar's public feed.

     The address is the calendar's `ical_url`, `/ical/<ical_token>.ics`. It needs no key, so treat the
    address like one.
    The feed contains confirmed and tentative events with titles, descriptions and reminders. Series are
    listed with
    their rule and its exceptions. Holds, cancelled events and imported events are left out. `If-None-
    Match` with the
    `ETag` of the previous answer returns 304 if nothing has changed. An address that was replaced, or
    whose calendar
    was deleted, gets 404. The limit is 120 requests per minute and address.

    Args:
        feed (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | ErrorEnvelope | str
    """

    return sync_detailed(
        feed=feed,
        client=client,
    ).parsed


async def asyncio_detailed(
    feed: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Any | ErrorEnvelope | str]:
    """Returns a calendar's public feed.

     The address is the calendar's `ical_url`, `/ical/<ical_token>.ics`. It needs no key, so treat the
    address like one.
    The feed contains confirmed and tentative events with titles, descriptions and reminders. Series are
    listed with
    their rule and its exceptions. Holds, cancelled events and imported events are left out. `If-None-
    Match` with the
    `ETag` of the previous answer returns 304 if nothing has changed. An address that was replaced, or
    whose calendar
    was deleted, gets 404. The limit is 120 requests per minute and address.

    Args:
        feed (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | ErrorEnvelope | str]
    """

    kwargs = _get_kwargs(
        feed=feed,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    feed: str,
    *,
    client: AuthenticatedClient | Client,
) -> Any | ErrorEnvelope | str | None:
    """Returns a calendar's public feed.

     The address is the calendar's `ical_url`, `/ical/<ical_token>.ics`. It needs no key, so treat the
    address like one.
    The feed contains confirmed and tentative events with titles, descriptions and reminders. Series are
    listed with
    their rule and its exceptions. Holds, cancelled events and imported events are left out. `If-None-
    Match` with the
    `ETag` of the previous answer returns 304 if nothing has changed. An address that was replaced, or
    whose calendar
    was deleted, gets 404. The limit is 120 requests per minute and address.

    Args:
        feed (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | ErrorEnvelope | str
    """

    return (
        await asyncio_detailed(
            feed=feed,
            client=client,
        )
    ).parsed
