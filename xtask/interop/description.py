"""The description of the API as a program reads it that makes requests from nothing else.

Starts the server that KALENDS_SERVER names, once on SQLite and once on the empty database that KALENDS_POSTGRES names,
and has each asked as many requests as CASES tells, valid ones and broken ones. No answer may be a failure of the
server's own, and every answer must be one that the description foretells: status, headers, type and body.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

# Of each database.
CASES = 10_000
# Of each operation and phase; what is left over is made up for by the number of operations.
EXAMPLES = 80

LISTENING = "kalends listening on "
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


class Server:
    """A server on a free port, with an organization, a human and the operator's token."""

    def __init__(self, folder, settings):
        self.program = os.environ["KALENDS_SERVER"]
        self.environment = dict(
            os.environ,
            KALENDS_DATA_DIR=f"{folder}/data",
            KALENDS_LISTEN="127.0.0.1:0",
            KALENDS_IP_LIMITS="off",
            KALENDS_ADMIN_TOKEN=ADMIN_TOKEN,
            # Where the hooks send what would leave the machine.
            KALENDS_EGRESS_ALLOW="127.0.0.1:9",
            **settings,
        )
        self.process = subprocess.Popen(
            [self.program], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        line = self.process.stdout.readline()
        assert line.startswith(LISTENING), line
        self.url = line.removeprefix(LISTENING).strip()

    def organization(self):
        limits = json.dumps({"rate_per_second": 1_000_000})
        command = [self.program, "org", "create", "--name", "Checked", "--plan", "custom", "--limits", limits]
        output = subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True).stdout
        return json.loads(output)["api_key"]

    def ask(self, path, body, key=None):
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        request = urllib.request.Request(f"{self.url}{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def session(self):
        """A human's session, of an organization of their own."""
        terms = json.load(urllib.request.urlopen(f"{self.url}/v1/auth/terms/current"))["version"]
        human = {"email": "ada@example.com", "password": PASSWORD}
        self.ask("/v1/auth/signup", human | {"name": "Ada", "org_name": "Engines", "tos_version": terms})
        return self.ask("/v1/auth/signin", human)["token"]

    def stop(self):
        self.process.terminate()
        assert self.process.wait(timeout=60) == 0


def check(name, settings):
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder, settings)
        try:
            counted = pathlib.Path(folder, "cases")
            environment = dict(
                os.environ,
                PYTHONPATH=str(HERE),
                SCHEMATHESIS_HOOKS="description_hooks",
                KALENDS_URL=server.url,
                KALENDS_KEY=server.organization(),
                KALENDS_SESSION=server.session(),
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
