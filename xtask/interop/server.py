"""The server in KALENDS_SERVER on a free port, and operator commands."""

import json
import os
import socket
import subprocess

LISTENING = "kalends listening on "


def at_its_address():
    """Settings for a free port, so that the addresses in links and metadata lead to the server itself."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    return {"KALENDS_LISTEN": address, "KALENDS_BASE_URL": f"http://{address}"}


class Server:
    """A server with its data in a folder, and with settings by their environment names."""

    def __init__(self, folder, **settings):
        self.program = os.environ["KALENDS_SERVER"]
        self.environment = os.environ | {"KALENDS_DATA_DIR": folder, "KALENDS_LISTEN": "127.0.0.1:0"} | settings
        self.process = subprocess.Popen(
            [self.program], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        line = self.process.stdout.readline()
        assert line.startswith(LISTENING), line
        self.url = line.removeprefix(LISTENING).strip()

    def organization(self, plan, **limits):
        """The key of a new organization."""
        command = [self.program, "org", "create", "--name", "Interop", "--plan", plan]
        command += ["--limits", json.dumps(limits)] if limits else []
        output = subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True).stdout
        return json.loads(output)["api_key"]

    def stop(self):
        self.process.terminate()
        assert self.process.wait(timeout=60) == 0
