"""The layer over the generated functions, without a network."""

import asyncio
import http.server
import json
import threading

import httpx
import pytest
from kalends import ApiError, ApprovalPending, AsyncKalends, Kalends, Retry
from kalends._retry import YEAR, seconds
from kalends._transport import AsyncRetryingTransport, RetryingTransport, proxy
from kalends_api.api.changes import list_changes
from kalends_api.api.events import create_event, list_calendar_events, search_events
from kalends_api.api.mail import list_mail
from kalends_api.models import CreateEvent

BASE = "http://kalends.test"
TIMES = {"start_time": "2099-03-02T09:00:00Z", "end_time": "2099-03-02T10:00:00Z"}
BODY = CreateEvent.from_dict({"title": "Standup", **TIMES})
ERROR = {"error": {"type": "conflict", "code": "slot_taken", "message": "It is taken.", "request_id": "req_1"}}
BUSY = {"error": {"type": "rate_limit_error", "code": "too_fast", "message": "Too fast.", "request_id": "req_2"}}

FAR = "Fri, 31 Dec 9999 23:59:59 GMT"
REFUSALS = [(429, {}), *[(429, {"Retry-After": long}) for long in ["864000", FAR]], (500, {"Retry-After": "1"})]


def refused(status, body=BUSY, **headers):
    return httpx.Response(status, json=body, headers=headers)


def page(data, total, offset=0):
    return httpx.Response(200, json={"data": data, "total": total, "limit": 50, "offset": offset})


def feed(next_token, has_more=False):
    return httpx.Response(200, json={"data": [], "next": next_token, "has_more": has_more})


class Service:
    """Answers with a script, and keeps the requests and waits."""

    def __init__(self, *script):
        self.script, self.requests, self.waits, self.now = list(script), [], [], 0.0

    def answer(self, request):
        self.requests.append(request)
        following = self.script.pop(0)
        if isinstance(following, Exception):
            raise following
        return following

    def sleep(self, seconds):
        self.waits.append(seconds)
        self.now += seconds

    async def sleep_async(self, seconds):
        self.sleep(seconds)

    def client(self, retry=Retry()):
        transport = RetryingTransport(httpx.MockTransport(self.answer), retry, self.sleep, lambda: self.now)
        return Kalends("svc_sk_1", BASE, transport=transport)

    def client_async(self, **settings):
        inner = httpx.MockTransport(self.answer)
        transport = AsyncRetryingTransport(inner, Retry(), self.sleep_async, lambda: self.now)
        return AsyncKalends("svc_sk_1", BASE, transport=transport, **settings)

    def keys(self):
        return [request.headers.get("Idempotency-Key") for request in self.requests]


def lists(client):
    return client.call(list_calendar_events.sync, "cal_1")


def creates(client, **named):
    return client.call(create_event.sync, "cal_1", body=BODY, **named)


def test_the_key_is_sent():
    service = Service(page([], 0))
    lists(service.client())
    assert service.requests[0].headers["Authorization"] == "Bearer svc_sk_1"
    assert service.keys() == [None]


def test_a_read_waits_as_long_as_the_service_says():
    service = Service(refused(429, **{"Retry-After": "2"}), refused(503, **{"Retry-After": "1"}), page([], 0))
    assert lists(service.client()).total == 0
    assert service.waits == [2, 1]


def test_a_read_waits_until_a_date():
    past = "Thu, 01 Jan 1970 00:00:00 GMT"
    service = Service(refused(429, **{"Retry-After": past}), page([], 0))
    assert lists(service.client()).total == 0
    assert service.waits == [0]


@pytest.mark.parametrize(
    "header, wait",
    [
        ("Sun, 06 Nov 1994 08:49:44 GMT", 7),
        ("Sun, 06 Nov 1994 08:49:30 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", YEAR),
        ("7", 7),
        ("9" * 5000, YEAR),
        ("Sun, 99 Nov 1994 08:49:44 GMT", None),
        ("Sun, 06 Nov 1994 08:49:44", None),
        ("Sun, 06 Nov 1994 08:49:44 GMT" + " " * 5000, None),
        ("-7", None),
        ("٧", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header, wait):
    # Sunday, 6 November 1994, 08:49:37.
    assert seconds(header, now=784_111_777.0) == wait


def test_all_attempts_at_a_write_share_a_key():
    service = Service(httpx.ReadError("lost"), refused(503, **{"Retry-After": "1"}), refused(409, ERROR))
    with pytest.raises(ApiError) as error:
        creates(service.client())
    first, *others = service.keys()
    assert len(first) == 32 and others == [first, first]
    assert [json.loads(request.content)["title"] for request in service.requests] == ["Standup"] * 3
    assert (error.value.type, error.value.code, error.value.request_id) == ("conflict", "slot_taken", "req_1")
    assert error.value.param is None and error.value.status == 409


def test_two_writes_have_different_keys():
    service = Service(refused(409, ERROR), refused(409, ERROR))
    for _ in range(2):
        with pytest.raises(ApiError):
            creates(service.client())
    assert len(set(service.keys())) == 2


def test_a_chosen_key_is_kept():
    service = Service(refused(409, ERROR))
    with pytest.raises(ApiError):
        creates(service.client(), idempotency_key="mine")
    assert service.keys() == ["mine"]


def test_there_are_at_most_four_attempts():
    service = Service(*[refused(503, **{"Retry-After": "0"}) for _ in range(5)])
    with pytest.raises(ApiError) as error:
        lists(service.client())
    assert len(service.requests) == 4 and error.value.retry_after == 0


@pytest.mark.parametrize("status, headers", REFUSALS)
def test_some_refusals_are_returned_at_once(status, headers):
    service = Service(refused(status, **headers))
    with pytest.raises(ApiError):
        lists(service.client())
    assert service.waits == []


def test_the_total_time_is_bounded():
    service = Service(*[refused(503, **{"Retry-After": "9"}) for _ in range(4)])
    with pytest.raises(ApiError):
        lists(service.client(Retry(longest_total=20)))
    assert service.waits == [9, 9]


def test_a_lost_connection_is_raised_in_the_end():
    service = Service(*[httpx.ConnectError("refused") for _ in range(4)])
    with pytest.raises(httpx.ConnectError):
        lists(service.client())
    assert all(low <= wait <= 2 * low for low, wait in zip([0.125, 0.25, 0.5], service.waits, strict=True))


def test_the_answer_of_a_proxy_is_an_error_without_a_code():
    service = Service(httpx.Response(404, text="<h1>Not here</h1>", headers={"X-Request-Id": "req_3"}))
    with pytest.raises(ApiError) as error:
        lists(service.client())
    assert (error.value.code, error.value.request_id) == (None, "req_3")


@pytest.mark.parametrize("status", [301, 302, 304, 308])
def test_a_redirect_is_an_error_without_a_code(status):
    moved = httpx.Response(status, text="<h1>Moved</h1>", headers={"Location": "https://kalends.test/"})
    service = Service(moved)
    with pytest.raises(ApiError) as error:
        lists(service.client())
    assert (error.value.status, error.value.code, len(service.requests)) == (status, None, 1)


def test_a_list_is_read_to_its_end():
    service = Service(page([], 0))
    assert list(service.client().items(list_calendar_events.sync, "cal_1")) == []
    service = Service(feed("b", has_more=True), feed("c"))
    assert [one.next_ for one in service.client().pages(list_changes.sync, since="a")] == ["b", "c"]
    assert [request.url.params["since"] for request in service.requests] == ["a", "b"]


def test_a_list_with_a_cursor_is_read_to_its_end():
    answers = [httpx.Response(200, json={"data": [], "pagination": {"next_cursor": after}}) for after in ["c", None]]
    service = Service(*answers)
    assert len(list(service.client().pages(list_mail.sync, limit=10))) == 2
    assert [request.url.params.get("cursor") for request in service.requests] == [None, "c"]


@pytest.mark.parametrize("end", [{}, {"next": None}])
def test_a_search_is_read_to_its_end(end):
    answers = [httpx.Response(200, json={"data": [], **after}) for after in [{"next": "c"}, {"next": "d"}, end]]
    service = Service(*answers)
    assert len(list(service.client().pages(search_events.sync, q="standup"))) == 3
    asked = [request.url.params for request in service.requests]
    assert [one.get("cursor") for one in asked] == [None, "c", "d"]
    assert [one["q"] for one in asked] == ["standup"] * 3


def test_changes_are_followed():
    service = Service(feed("b"), feed("c", has_more=True), feed("d"))
    following = service.client().follow(wait=5, types="event.*")
    assert [next(following).next_ for _ in range(3)] == ["b", "c", "d"]
    asked = [dict(request.url.params) for request in service.requests]
    assert asked[0].items() >= {"wait": "5", "types": "event.*"}.items()
    assert [one.get("since") for one in asked] == [None, "b", "c"]


def test_a_write_that_waits_for_approval_is_a_value():
    approval = {
        "id": "apr_1",
        "status": "pending",
        "operation": "createEvent",
        "summary": "Create the event.",
        "agent_id": "agt_1",
        "key_prefix": "svc_ak_1",
        "created_at": "2026-03-02T08:00:00Z",
        "expires_at": "2026-03-03T08:00:00Z",
        "decide_url": "https://kalends.test/console/approvals/apr_1",
    }
    service = Service(*[httpx.Response(202, json={"approval": approval}) for _ in range(2)])
    answer = service.client().send(create_event.sync, "cal_1", body=BODY)
    assert answer.approval is not None and answer.approval.id == "apr_1"
    with pytest.raises(ApprovalPending) as pending:
        creates(service.client())
    assert pending.value.approval.summary == "Create the event."


def test_a_run_is_named_in_a_header():
    service = Service(refused(409, ERROR), page([], 0), page([], 0))
    client = service.client()
    with pytest.raises(ApiError):
        creates(client.in_run("plan-week-10"))
    lists(client)
    assert [request.headers.get("Kalends-Run") for request in service.requests] == ["plan-week-10", None]


def test_a_client_of_a_run_leaves_the_connections_open():
    class Closable(httpx.MockTransport):
        closed = 0

        def close(self):
            self.closed += 1

    transport = Closable(lambda _: page([], 0))
    with Kalends("svc_sk_1", BASE, transport=transport) as client:
        with client.in_run("plan-week-10") as run:
            lists(run)
        assert transport.closed == 0
        lists(client)
    assert transport.closed == 1


def test_headers_are_part_of_the_answer():
    headers = {"ETag": '"3"', "X-Request-Id": "req_4", "Idempotency-Replayed": "true"}
    listed = httpx.Response(200, json={"data": [], "total": 0, "limit": 50, "offset": 0}, headers=headers)
    answer = Service(listed).client().send(list_calendar_events.sync, "cal_1")
    assert (answer.etag, answer.request_id, answer.is_replay, answer.status) == ('"3"', "req_4", True, 200)


def test_the_same_holds_for_asyncio():
    async def run():
        busy = refused(429, **{"Retry-After": "3"})
        service = Service(httpx.ReadTimeout("late"), busy, page([], 0), refused(409, ERROR))
        async with service.client_async() as client:
            assert [one async for one in client.items(list_calendar_events.asyncio, "cal_1")] == []
            assert service.waits[1] == 3
            with pytest.raises(ApiError):
                await client.call(create_event.asyncio, "cal_1", body=BODY)
            assert len(service.keys()[-1]) == 32

    asyncio.run(run())


class Slow(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that never ends. Each part arrives in time."""

    def __init__(self, wait):
        self.wait, self.closed = wait, False

    def __iter__(self):
        while True:
            self.wait()
            yield b" "

    async def __aiter__(self):
        while True:
            await self.wait()
            yield b" "

    def close(self):
        self.closed = True

    async def aclose(self):
        self.closed = True


def test_an_answer_that_never_ends_is_a_timeout():
    service = Service()
    body = Slow(lambda: service.sleep(30))
    service.script = [httpx.Response(200, stream=body)]
    with pytest.raises(httpx.ReadTimeout):
        lists(service.client())
    # The time of an attempt is 75 seconds.
    assert service.now == 90 and body.closed


def test_an_answer_that_never_ends_is_a_timeout_for_asyncio():
    async def run():
        body = Slow(lambda: asyncio.sleep(0))
        service = Service(httpx.Response(200, stream=body))
        async with service.client_async(timeout=0.01) as client:
            with pytest.raises(httpx.ReadTimeout):
                await client.call(list_calendar_events.asyncio, "cal_1")
        assert body.closed

    asyncio.run(run())


def test_an_attempt_without_an_answer_is_repeated_for_asyncio():
    class Silent(httpx.AsyncBaseTransport):
        asked = 0

        async def handle_async_request(self, request):
            self.asked += 1
            await asyncio.Event().wait()

    async def run():
        service, silent = Service(), Silent()
        transport = AsyncRetryingTransport(silent, Retry(attempts=2), service.sleep_async, lambda: service.now)
        async with AsyncKalends("svc_sk_1", BASE, transport=transport, timeout=0.01) as client:
            with pytest.raises(httpx.ReadTimeout):
                await client.call(list_calendar_events.asyncio, "cal_1")
        assert silent.asked == 2 and len(service.waits) == 1

    asyncio.run(run())


@pytest.fixture
def proxies(monkeypatch):
    """Sets what the environment says about proxies."""
    for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy", "request_method"]:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return lambda **named: [monkeypatch.setenv(name, value) for name, value in named.items()]


@pytest.mark.parametrize(
    "named, expected",
    [
        ({}, None),
        ({"HTTPS_PROXY": "http://proxy.test:3128"}, "http://proxy.test:3128"),
        ({"https_proxy": "proxy.test:3128"}, "http://proxy.test:3128"),
        ({"ALL_PROXY": "http://proxy.test:3128"}, "http://proxy.test:3128"),
        ({"HTTP_PROXY": "http://proxy.test:3128"}, None),
        ({"HTTPS_PROXY": ""}, None),
        *[
            ({"HTTPS_PROXY": "http://proxy.test:3128", "NO_PROXY": none}, None)
            for none in ["*", "kalends.test", "other.test, .test", "kalends.test:8443"]
        ],
        ({"HTTPS_PROXY": "http://proxy.test:3128", "NO_PROXY": "other.test"}, "http://proxy.test:3128"),
    ],
)
def test_the_environment_names_the_proxy(proxies, named, expected):
    proxies(**named)
    found = proxy("https://kalends.test:8443")
    assert (found and str(found.url)) == expected


def test_no_proxy_can_be_an_address_of_ipv6(proxies):
    proxies(HTTP_PROXY="http://proxy.test:3128", NO_PROXY="::1")
    assert proxy("http://[::1]:8080") is None


def test_requests_are_sent_to_the_proxy(proxies):
    class Proxy(http.server.BaseHTTPRequestHandler):
        asked = []

        def do_GET(self):
            self.asked.append(self.path.partition("?")[0])
            self.send_response(200)
            self.end_headers()
            self.wfile.write(page([], 0).content)

        def log_message(self, *_):
            pass

    async def run():
        async with AsyncKalends("svc_sk_1", BASE) as client:
            await client.call(list_calendar_events.asyncio, "cal_1")

    with http.server.HTTPServer(("127.0.0.1", 0), Proxy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        proxies(HTTP_PROXY=f"http://127.0.0.1:{server.server_port}")
        with Kalends("svc_sk_1", BASE) as client:
            lists(client)
        asyncio.run(run())
        server.shutdown()
    assert Proxy.asked == ["http://kalends.test/v1/calendars/cal_1/events"] * 2
