"""A client that openapi-python-client generates from the description, on a round trip.

Starts the server in KALENDS_SERVER on an empty database. The argument is the API description. The client is generated
next to it.
"""

import compileall
import importlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

from server import Server

DESCRIPTION = pathlib.Path(sys.argv[1])
MADE = DESCRIPTION.parent / "made_client"


def make():
    shutil.rmtree(MADE, ignore_errors=True)
    program = pathlib.Path(sys.executable).parent / "openapi-python-client"
    command = [program, "generate", "--path", DESCRIPTION, "--meta", "none", "--output-path", MADE]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr
    # The only body that is neither JSON nor a form: a calendar as a file.
    left_out = (said.stdout + said.stderr).count("Endpoint will not be generated")
    assert left_out <= 1, said.stderr
    assert compileall.compile_dir(str(MADE), quiet=1), "the client does not compile"
    sys.path.insert(0, str(MADE.parent))


def part(path):
    return importlib.import_module(f"made_client.{path}")


def call(path, client, *arguments, status, **named):
    answer = part(f"api.{path}").sync_detailed(*arguments, client=client, **named)
    assert answer.status_code == status, f"{path}: {answer.status_code} {answer.content}"
    return answer.parsed


def round_trip(client):
    models = part("models")
    metadata = {"team": "x", "depth": {"is": [1, None]}}
    body = models.CreateAgent.from_dict({"name": "Ada", "type": "ai", "metadata": metadata})
    agent = call("agents.create_agent", client, body=body, status=201)
    assert agent.metadata.to_dict() == metadata, agent
    body = models.CreateCalendar.from_dict({"name": "Work", "timezone": "Europe/Berlin"})
    calendar = call("calendars.create_agent_calendar", client, agent.id, body=body, status=201)
    times = {"start_time": "2027-03-02T09:00:00Z", "end_time": "2027-03-02T10:00:00Z"}
    body = models.CreateEvent.from_dict({"title": "Standup", "metadata": {"room": 7}} | times)
    event = call("events.create_event", client, calendar.id, body=body, status=201)
    listed = call("events.list_calendar_events", client, calendar.id, status=200)
    assert listed.total == 1 and isinstance(listed.data[0], models.Event), listed
    assert listed.data[0].id == event.id and listed.data[0].metadata.to_dict() == {"room": 7}, listed
    refused = call("agents.get_agent", client, "agt_unknown", status=404)
    assert refused.error.code == models.ErrorCode.AGENT_NOT_FOUND, refused


make()
with tempfile.TemporaryDirectory() as folder:
    server = Server(f"{folder}/data")
    try:
        key = server.organization("pro")
        round_trip(part("client").AuthenticatedClient(base_url=server.url, token=key))
    finally:
        server.stop()
print("openapi-python-client: round trip done")
