"""The Python client in `clients/python`: its own tests, and then a server.

Starts the server in KALENDS_SERVER on an empty database, and receives its webhook messages on a port of this machine.
"""

import asyncio
import http.server
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading

from server import Server

CLIENT = pathlib.Path(__file__).parents[2] / "clients" / "python"
# Python writes nothing next to the client.
sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
# The server is on this machine.
os.environ["no_proxy"] = "127.0.0.1"
sys.path.insert(0, str(CLIENT))

import httpx  # noqa: E402
from kalends import ApiError, AsyncKalends, Kalends, Retry, WebhookError, idempotency_key, verify  # noqa: E402
from kalends_api.api.agents import create_agent, list_agents  # noqa: E402
from kalends_api.api.calendars import create_agent_calendar  # noqa: E402
from kalends_api.api.events import create_event, get_event, list_calendar_events, update_event  # noqa: E402
from kalends_api.api.runs import undo_run  # noqa: E402
from kalends_api.api.webhooks import create_webhook, rotate_webhook_secret, test_webhook  # noqa: E402
from kalends_api.models import CreateAgent, CreateCalendar, CreateEvent, CreateWebhook, UpdateEvent  # noqa: E402

EVENTS = 120
# Requests per second. Beyond that, requests are refused until a second has passed.
SLOW = 2
SECONDS = 60


class Receiver(http.server.BaseHTTPRequestHandler):
    """Keeps each message and accepts it."""

    received = queue.Queue()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.received.put((dict(self.headers), body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


class Counted(httpx.BaseTransport):
    """Counts the refused attempts."""

    def __init__(self):
        self.inner, self.refused = httpx.HTTPTransport(), 0

    def handle_request(self, request):
        response = self.inner.handle_request(request)
        self.refused += response.status_code == 429
        return response


class Losing(httpx.BaseTransport):
    """Loses the answer to the first attempt at each write."""

    def __init__(self):
        self.inner, self.keys = httpx.HTTPTransport(), []

    def handle_request(self, request):
        response = self.inner.handle_request(request)
        key = request.headers.get("Idempotency-Key")
        if key is None or key in self.keys:
            return response
        self.keys.append(key)
        response.close()
        raise httpx.ReadError("lost")


def refused(code, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except ApiError as error:
        assert error.code == code and error.type and error.request_id, error
        return error
    raise AssertionError(f"not refused with {code}")


def at(number):
    """A body of an event of an hour. They do not overlap."""
    day, hour = divmod(number, 24)
    start = f"2099-03-{day + 1:02}T{hour:02}:00:00Z"
    return CreateEvent(title=f"Event {number}", start_time=start, end_time=f"{start[:14]}30:00Z")


def scheduling(client):
    agent = client.call(create_agent.sync, body=CreateAgent.from_dict({"name": "Ada", "type": "ai"}))
    body = CreateCalendar.from_dict({"name": "Work", "timezone": "Europe/Berlin"})
    calendar = client.call(create_agent_calendar.sync, agent.id, body=body)
    created = [client.call(create_event.sync, calendar.id, body=at(number)).id for number in range(EVENTS)]
    listed = [event.id for event in client.items(list_calendar_events.sync, calendar.id, limit=50)]
    assert listed == created and len(listed) == EVENTS
    return calendar.id


def repeats(client, lossy, calendar):
    key = idempotency_key()
    first = client.send(create_event.sync, calendar, body=at(200), idempotency_key=key)
    again = client.send(create_event.sync, calendar, body=at(200), idempotency_key=key)
    assert first.value.id == again.value.id and (first.is_replay, again.is_replay) == (False, True)
    refused("idempotency_mismatch", client.call, create_event.sync, calendar, body=at(201), idempotency_key=key)
    # The answer to the first attempt was lost. The second is a replay, so there is one event.
    lost = lossy.send(create_event.sync, calendar, body=at(202))
    assert lost.is_replay
    titles = [event.title for event in client.items(list_calendar_events.sync, calendar)]
    assert titles.count("Event 202") == 1
    error = refused("stale", client.call, update_event.sync, lost.value.id, body=UpdateEvent(title="x"), if_match='"0"')
    assert error.status == 412


def runs(client, calendar):
    event = client.in_run("plan-week-10").call(create_event.sync, calendar, body=at(300))
    client.call(undo_run.sync, "plan-week-10")
    refused("event_not_found", client.call, get_event.sync, event.id)


def changes(client, calendar):
    pages = client.follow(types="event.*", wait=10)
    assert next(pages).data == []
    event = client.call(create_event.sync, calendar, body=at(400))
    [change] = next(pages).data
    assert (change.type_, change.resource_id) == ("event.created", event.id), change


def messages(client, calendar, port):
    body = CreateWebhook.from_dict({"url": f"http://127.0.0.1:{port}/hook", "events": ["event.created"]})
    webhook = client.call(create_webhook.sync, body=body)
    event = client.call(create_event.sync, calendar, body=at(500))
    headers, body = Receiver.received.get(timeout=SECONDS)
    message = verify(webhook.secret, headers, body)
    assert (message.type, message.body["id"]) == ("event.created", event.id), message
    for secret, changed in [(webhook.secret, body + b" "), ("whsec_" + "A" * 44, body)]:
        try:
            verify(secret, headers, changed)
        except WebhookError:
            continue
        raise AssertionError("not refused")
    fresh = client.call(rotate_webhook_secret.sync, webhook.id).secret
    client.call(test_webhook.sync, webhook.id)
    headers, body = Receiver.received.get(timeout=SECONDS)
    for secret in [fresh, webhook.secret]:
        assert verify(secret, headers, body).type == "webhook.test"


async def asynchronous(url, key, calendar):
    async with AsyncKalends(key, url) as client:
        events = [event.id async for event in client.items(list_calendar_events.asyncio, calendar, limit=50)]
        assert len(events) >= EVENTS
        event = await client.call(create_event.asyncio, calendar, body=at(600))
        assert event.title == "Event 600"


def readme(url, key):
    """Runs the example of the README."""
    code = (CLIENT / "README.md").read_text().split("```python\n")[1].split("```")[0]
    environment = dict(os.environ, KALENDS_URL=url, KALENDS_KEY=key, PYTHONPATH=str(CLIENT))
    printed = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    assert printed.stdout.startswith("Standup 2099-03-02"), printed.stdout


def slow(url, key):
    counted = Counted()
    with Kalends(key, url, transport=counted) as client:
        for _ in range(4 * SLOW):
            client.call(list_agents.sync)
    assert counted.refused, "nothing was refused"
    with Kalends(key, url, retry=Retry(attempts=1)) as client:
        error = refused("too_fast", lambda: [client.call(list_agents.sync) for _ in range(20 * SLOW)])
        assert error.status == 429 and error.retry_after is not None


subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(CLIENT / "tests")], check=True)
receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=receiver.serve_forever, daemon=True).start()
port = receiver.server_address[1]
with tempfile.TemporaryDirectory() as folder:
    server = Server(f"{folder}/data", KALENDS_EGRESS_ALLOW=f"127.0.0.1:{port}")
    try:
        key = server.organization("custom", rate_per_second=1_000_000)
        with Kalends(key, server.url) as client, Kalends(key, server.url, transport=Losing()) as lossy:
            calendar = scheduling(client)
            repeats(client, lossy, calendar)
            runs(client, calendar)
            changes(client, calendar)
            messages(client, calendar, port)
        asyncio.run(asynchronous(server.url, key, calendar))
        readme(server.url, key)
        slow(server.url, server.organization("custom", rate_per_second=SLOW))
        with Kalends(f"{key[:-4]}xxxx", server.url) as client:
            error = refused("invalid_key", client.call, list_agents.sync)
            assert (error.status, error.type) == (401, "unauthorized"), error
    finally:
        server.stop()
receiver.shutdown()
print("clients/python: round trip done")
