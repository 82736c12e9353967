from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...types import UNSET, Response, Unset


def _get_kwargs(
    slug: str,
    *,
    month: str | Unset = UNSET,
    day: str | Unset = UNSET,
    tz: str | Unset = UNSET,
    slot: str | Unset = UNSET,
    lang: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["month"] = month

    params["day"] = day

    params["tz"] = tz

    params["slot"] = slot

    params["lang"] = lang

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/book/{slug}".format(
            slug=quote(str(slug), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | str:
    if response.status_code == 200:
        response_200 = response.text
        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | str]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    slug: str,
    *,
    client: AuthenticatedClient | Client,
    month: str | Unset = UNSET,
    day: str | Unset = UNSET,
    tz: str | Unset = UNSET,
    slot: str | Unset = UNSET,
    lang: str | Unset = UNSET,
) -> Response[ErrorEnvelope | str]:
    """Shows a booking page.

     As HTML, it shows the days of a `month` that have free times and the times of one `day`, in the zone
    `tz`. With
    `slot`, it shows the form that books the slot. If the organization has used up the month's events,
    the page says
    that booking is closed for now and offers no times. With `Accept: text/markdown`, the answer is the
    same as text
    for agents, with the next free times and how to book one over HTTP. The page speaks English, German,
    French, Spanish, Portuguese
    and Japanese; the text for agents is in English. The limit is 60 requests per minute and
    address.

    Args:
        slug (str):
        month (str | Unset):
        day (str | Unset):
        tz (str | Unset):
        slot (str | Unset):
        lang (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | str]
    """

    kwargs = _get_kwargs(
        slug=slug,
        month=month,
        day=day,
        tz=tz,
        slot=slot,
        lang=lang,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    slug: str,
    *,
    client: AuthenticatedClient | Client,
    month: str | Unset = UNSET,
    day: str | Unset = UNSET,
    tz: str | Unset = UNSET,
    slot: str | Unset = UNSET,
    lang: str | Unset = UNSET,
) -> ErrorEnvelope | str | None:
    """Shows a booking page.

     As HTML, it shows the days of a `month` that have free times and the times of one `day`, in the zone
    `tz`. With
    `slot`, it shows the form that books the slot. If the organization has used up the month's events,
    the page says
    that booking is closed for now and offers no times. With `Accept: text/markdown`, the answer is the
    same as text
    for agents, with the next free times and how to book one over HTTP. The page speaks English, German,
    French, Spanish, Portuguese
    and Japanese; the text for agents is in English. The limit is 60 requests per minute and
    address.

    Args:
        slug (str):
        month (str | Unset):
        day (str | Unset):
        tz (str | Unset):
        slot (str | Unset):
        lang (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | str
    """

    return sync_detailed(
        slug=slug,
        client=client,
        month=month,
        day=day,
        tz=tz,
        slot=slot,
        lang=lang,
    ).parsed


async def asyncio_detailed(
    slug: str,
    *,
    client: AuthenticatedClient | Client,
    month: str | Unset = UNSET,
    day: str | Unset = UNSET,
    tz: str | Unset = UNSET,
    slot: str | Unset = UNSET,
    lang: str | Unset = UNSET,
) -> Response[ErrorEnvelope | str]:
    """Shows a booking page.

     As HTML, it shows the days of a `month` that have free times and the times of one `day`, in the zone
    `tz`. With
    `slot`, it shows the form that books the slot. If the organization has used up the month's events,
    the page says
    that booking is closed for now and offers no times. With `Accept: text/markdown`, the answer is the
    same as text
    for agents, with the next free times and how to book one over HTTP. The page speaks English, German,
    French, Spanish, Portuguese
    and Japanese; the text for agents is in English. The limit is 60 requests per minute and
    address.

    Args:
        slug (str):
        month (str | Unset):
        day (str | Unset):
        tz (str | Unset):
        slot (str | Unset):
        lang (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | str]
    """

    kwargs = _get_kwargs(
        slug=slug,
        month=month,
        day=day,
        tz=tz,
        slot=slot,
        lang=lang,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    slug: str,
    *,
    client: AuthenticatedClient | Client,
    month: str | Unset = UNSET,
    day: str | Unset = UNSET,
    tz: str | Unset = UNSET,
    slot: str | Unset = UNSET,
    lang: str | Unset = UNSET,
) -> ErrorEnvelope | str | None:
    """Shows a booking page.

     As HTML, it shows the days of a `month` that have free times and the times of one `day`, in the zone
    `tz`. With
    `slot`, it shows the form that books the slot. If the organization has used up the month's events,
    the page says
    that booking is closed for now and offers no times. With `Accept: text/markdown`, the answer is the
    same as text
    for agents, with the next free times and how to book one over HTTP. The page speaks English, German,
    French, Spanish, Portuguese
    and Japanese; the text for agents is in English. The limit is 60 requests per minute and
    address.

    Args:
        slug (str):
        month (str | Unset):
        day (str | Unset):
        tz (str | Unset):
        slot (str | Unset):
        lang (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | str
    """

    return (
        await asyncio_detailed(
            slug=slug,
            client=client,
            month=month,
            day=day,
            tz=tz,
            slot=slot,
            lang=lang,
        )
    ).parsed
