"""Checks the API description with a program that generates requests from it.

Starts the server in KALENDS_SERVER, once on SQLite and once on the empty database in KALENDS_POSTGRES, and sends each
at least CASES requests, both valid and invalid. No answer may be a server error, and every answer must match the
description: status, headers, content type and body.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

from server import Server

# For each database.
CASES = 10_000
# The most generated requests for one operation in one phase.
EXAMPLES = 80
ADMIN_TOKEN = "a-token-of-this-check"
HERE = pathlib.Path(__file__).parent
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
]
PASSWORD = "correct horse battery staple"


def ask(url, body=None):
    """The JSON answer to a request without a key."""
    body = json.dumps(body).encode() if body else None
    with urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": "application/json"})) as answer:
        return json.load(answer)


def session(url):
    """The session of a user with an organization."""
    terms = ask(f"{url}/v1/auth/terms/current")["version"]
    human = {"email": "ada@example.com", "password": PASSWORD}
    ask(f"{url}/v1/auth/signup", human | {"name": "Ada", "org_name": "Engines", "tos_version": terms})
    return ask(f"{url}/v1/auth/signin", human)["token"]


def check(name, settings):
    with tempfile.TemporaryDirectory() as folder:
        # The hooks direct requests that would leave the machine to that port.
        own = {"KALENDS_IP_LIMITS": "off", "KALENDS_ADMIN_TOKEN": ADMIN_TOKEN, "KALENDS_EGRESS_ALLOW": "127.0.0.1:9"}
        server = Server(f"{folder}/data", **own, **settings)
        try:
            counted = pathlib.Path(folder, "cases")
            environment = dict(
                os.environ,
                PYTHONPATH=str(HERE),
                SCHEMATHESIS_HOOKS="description_hooks",
                KALENDS_URL=server.url,
                KALENDS_KEY=server.organization("custom", rate_per_second=1_000_000),
                KALENDS_SESSION=session(server.url),
                KALENDS_ADMIN_TOKEN=ADMIN_TOKEN,
                KALENDS_CASES=str(counted),
            )
            program = pathlib.Path(sys.executable).parent / "schemathesis"
            arguments = ["run", f"{server.url}/openapi.json", "--checks", ",".join(CHECKS), "--max-redirects", "0"]
            arguments += ["--max-examples", str(EXAMPLES), "--phases", "examples,coverage,fuzzing,stateful"]
            arguments += ["--warnings", "off", "--continue-on-failure", "--no-color", "--generation-database", "none"]
            arguments += ["--suppress-health-check", "all"]
            subprocess.run([program, *arguments], env=environment, cwd=folder, check=True)
            cases = int(counted.read_text())
            assert cases >= CASES, f"{cases} cases, fewer than {CASES}"
            print(f"{name}: {cases} cases")
        finally:
            server.stop()


check("SQLite", {})
KEYS = {
    "KALENDS_MASTER_KEY": "bWFzdGVyIGtleSBvZiB0aGUgZW5kLXRvLWVuZCB0ZXM=",
    "KALENDS_SESSION_KEY": "c2Vzc2lvbiBrZXkgb2YgdGhlIGVuZC10by1lbmQgdGU=",
}
check("Postgres", KEYS | {"KALENDS_DATABASE_URL": os.environ["KALENDS_POSTGRES"]})
