"""Supplies what the description alone cannot: keys, and the identifiers of existing things.

Half of the requests name existing things, whose identifiers are learnt from the answers. Addresses that the server
would call are replaced by local ones.
"""

import atexit
import os
import pathlib
import random
import re
import urllib.parse

import requests
import schemathesis

URL = os.environ["KALENDS_URL"]
CREDENTIALS = {
    "apiKey": os.environ["KALENDS_KEY"],
    "sessionToken": os.environ["KALENDS_SESSION"],
    "adminToken": os.environ["KALENDS_ADMIN_TOKEN"],
}
# These operations would end the session or the key that all other requests use, so they are called without either.
ENDS = {"signOut", "regenerateKey", "changePassword", "deleteAccount"}
# A closed port that the server may call.
CALLED = "http://127.0.0.1:9"
KEPT = 30

chosen = random.Random(2026)
count = 0
# Identifiers of things by collection.
known = {"orgs": [], "oauth": ["google"]}


def learn(collection, *names):
    kept = known.setdefault(collection, [])
    kept.extend(names)
    del kept[:-KEPT]


def ask(path, body):
    """Creates an initial resource."""
    answer = requests.post(URL + path, json=body, headers={"Authorization": f"Bearer {CREDENTIALS['apiKey']}"}, timeout=30)
    assert answer.status_code == 201, (path, answer.text)
    taught("POST", path, answer.json())
    return answer.json()


def taught(method, path, body):
    """Learns the identifiers in an answer."""
    segments = [segment for segment in path.split("/") if segment]
    if method == "POST" and isinstance(body.get("id"), str):
        learn(segments[-1], body["id"])
    if isinstance(body.get("slug"), str):
        learn("book", body["slug"])
    if isinstance(body.get("cancel_url"), str):
        learn("bookings", body["cancel_url"].split("/bookings/")[1].split("/")[0])
    if isinstance(body.get("ical_url"), str):
        learn("ical", body["ical_url"].rsplit("/", 1)[1])


def begin():
    for name in ["Ada", "Bob", "Eve"]:
        agent = ask("/v1/agents", {"name": name, "type": "ai"})["id"]
        calendar = ask(f"/v1/agents/{agent}/calendars", {"name": "Work", "timezone": "Europe/Berlin"})["id"]
        times = {"start_time": "2031-03-03T09:00:00Z", "end_time": "2031-03-03T10:00:00Z"}
        ask(f"/v1/calendars/{calendar}/events", {"title": "Standup", **times})
    ask("/v1/webhooks", {"url": f"{CALLED}/hook", "events": ["event.created"]})


begin()


def wanted(collection):
    """The identifier of an existing thing, half of the time."""
    names = known.get(collection)
    return chosen.choice(names) if names and chosen.random() < 0.5 else None


def collection_of(field):
    """The collection that a field such as `participant_agent_ids` refers to."""
    found = re.search(r"(agent|calendar|event|proposal|webhook)_?(id)?s?$", field)
    return f"{found[1]}s" if found else None


def with_names(value, field=""):
    """The value with identifiers of existing things, and with only local addresses."""
    if isinstance(value, dict):
        return {key: with_names(part, key) for key, part in value.items()}
    if isinstance(value, list):
        return [with_names(part, field) for part in value]
    if isinstance(value, str):
        if "url" in field or "://" in value:
            return f"{CALLED}/{urllib.parse.quote(value[:20], safe='')}" if "://" in value else value
        return wanted(collection_of(field) or "") or value
    return value


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = case.operation.definition.raw
    schemes = {scheme for security in operation.get("security", []) for scheme in security}
    credential = next((CREDENTIALS[scheme] for scheme in CREDENTIALS if scheme in schemes), None)
    if credential and operation["operationId"] not in ENDS:
        case.headers["Authorization"] = f"Bearer {credential}"
    previous = ""
    for segment in case.operation.path.split("/"):
        if segment.startswith("{"):
            name = wanted(previous)
            if name and case.path_parameters:
                case.path_parameters[segment.strip("{}")] = name
        else:
            previous = segment
    if isinstance(case.body, (dict, list)):
        case.body = with_names(case.body)
    for field, value in list((case.query or {}).items()):
        case.query[field] = wanted(collection_of(field) or "") or value


@schemathesis.hook
def after_call(context, case, response):
    global count
    count += 1
    if response.status_code == 201 and "json" in str(response.headers.get("content-type", "")):
        taught(case.method, case.operation.path, response.json())


@atexit.register
def write_count():
    pathlib.Path(os.environ["KALENDS_CASES"]).write_text(str(count))
