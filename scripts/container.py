"""Follows Dockerfile and deploy/compose.yaml step by step where there is no container engine.

    .venv-test/bin/python scripts/container.py [FOLDER]

In an empty folder, with an empty environment: what the Dockerfile copies and runs, its command and its
health check. Then the services of the compose file by hand: a PostgreSQL of its own, the service with the
command and the environment that stand there, and the proxy with its configuration, where nginx is on the
PATH. Through all of them a report is sent, and read again after the service has been started anew.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from casebase import postgresql_server  # noqa: E402

#: Where the image has what is built; and what makes users or files that only a container has.
HOME, SKIPPED = "/opt/diagnose", "useradd"
PASSWORD = "from-the-env-file"
#: How pip finds its registry, which is this machine's.
PIP = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}


class Image:
    """What a Dockerfile makes, in a folder: its files, environment, command and health check."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.work = folder, folder
        self.variables = {
            "HOME": str(folder),
            "PATH": f"{Path(sys.executable).parent}:{os.defpath}",
        }
        self.command: list[str] = []
        self.health: list[str] = []
        text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
        for line in text.splitlines():
            step, _, rest = line.partition(" ")
            if step and not step.startswith("#"):
                print(f"  {line[:110]}", flush=True)
                getattr(self, f"_{step.lower()}")(rest.strip().replace(HOME, f"{folder}{HOME}"))

    def run(self, command: Sequence[str], **variables: str) -> subprocess.Popen[str]:
        """Starts a program of the image, with what it is told beside its own environment."""
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.variables | variables,
            stderr=subprocess.PIPE,
            text=True,
        )

    def healthy(self, command: Sequence[str], port: int) -> None:
        """Runs a health check until it is content, as an engine does."""
        here = [word.replace(":8000", f":{port}") for word in command]
        for _ in range(60):
            if subprocess.run(here, env=self.variables, capture_output=True).returncode == 0:
                return
            time.sleep(1)
        sys.exit("the health check fails")

    def _from(self, _: str) -> None:
        pass

    def _workdir(self, path: str) -> None:
        self.work = self.folder / path.lstrip("/")
        self.work.mkdir(parents=True)

    def _copy(self, rest: str) -> None:
        if rest.startswith("--from"):
            return  # it is there
        *names, _ = rest.split()
        tracked = subprocess.check_output(["git", "ls-files", "-z", *names], cwd=ROOT, text=True)
        for name in filter(None, tracked.split("\0")):
            target = self.work / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)

    def _run(self, command: str) -> None:
        if not command.startswith(SKIPPED):
            subprocess.run(
                ["sh", "-ec", command], cwd=self.work, env=self.variables | PIP, check=True
            )

    def _env(self, rest: str) -> None:
        for word in shlex.split(rest):
            name, _, value = word.partition("=")
            self.variables[name] = value.replace("$PATH", self.variables["PATH"])

    def _user(self, _: str) -> None:
        pass

    _expose = _user

    def _healthcheck(self, rest: str) -> None:
        self.health = json.loads(rest.partition("CMD ")[2])

    def _cmd(self, rest: str) -> None:
        self.command = json.loads(rest)


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[None]:
    """Ends a process afterwards; what it has said is shown if something else failed."""
    try:
        yield
    except BaseException:
        process.terminate()
        print(process.communicate()[1])
        raise
    process.terminate()
    process.communicate()


def free() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def proxy(folder: Path, config: str, service: int) -> tuple[list[str], int]:
    """The command of nginx with the configuration of the compose file, and its port."""
    port = free()
    site = config.replace("$$", "$").replace("diagnose:8000", f"127.0.0.1:{service}")
    site = site.replace("listen 80;", f"listen 127.0.0.1:{port};")
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; user root; pid {folder}/nginx.pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; {temporary}\n{site}}}\n"
    )
    return ["nginx", "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")], port


def asked(port: int, path: str, token: str = "", body: Mapping[str, Any] | None = None) -> Any:
    """The answer of the API."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def composed(image: Image, stack: ExitStack) -> None:
    """Runs the services of the compose file."""
    text = (ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8")
    compose = yaml.safe_load(re.sub(r"\$\{POSTGRES_PASSWORD:\?\}", PASSWORD, text))
    database, service = (compose["services"][name] for name in ("database", "diagnose"))
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pg")))
    url = stack.enter_context(postgresql_server.running(folder))
    made = database["environment"]
    python = f"{image.folder}{HOME}/bin/python"
    program = (
        "import psycopg, sys\nwith psycopg.connect(sys.argv[1], autocommit=True) as c:\n"
        "    for one in sys.argv[2:]: c.execute(one)"
    )
    user, password, name = (made[f"POSTGRES_{one}"] for one in ("USER", "PASSWORD", "DB"))
    statements = [
        f"CREATE ROLE {user} LOGIN PASSWORD '{password}'",
        f"CREATE DATABASE {name} OWNER {user}",
    ]
    subprocess.run([python, "-c", program, url.replace("+psycopg", ""), *statements], check=True)
    here = {
        key: value.replace("@database/", "@/") + f"?host={folder}"
        for key, value in service["environment"].items()
    }
    port = free()
    command = [*service["command"], "--port", str(port)]
    ask = port
    if shutil.which("nginx"):
        nginx, ask = proxy(folder, compose["configs"]["proxy"]["content"], port)
        stack.enter_context(ended(subprocess.Popen(nginx, stderr=subprocess.PIPE, text=True)))
    else:
        print("  nginx is not on the PATH: the proxy is left out")
    issue = [f"{image.folder}{HOME}/bin/diagnose", "store", "issue", "container"]
    trace = next((ROOT / "tests" / "traces").glob("*.txt")).read_text(encoding="utf-8")
    address = ""
    for _ in range(2):
        with ended(image.run(command, **here)):
            image.healthy(service["healthcheck"]["test"][1:], port)
            if not address:
                token = subprocess.check_output(
                    issue, env=image.variables | here, text=True
                ).strip()
                sent = asked(ask, "/api/v1/reports", token, {"text": trace + " " * 5_000_000})
                address = f"/api/v1/reports/{sent['id']}"
            assert asked(ask, address)["group"] == sent["failure"]
            assert asked(ask, "/readyz")["store"].startswith("postgresql")
    print("  a report was sent, and read after a new start")


def main() -> None:
    """Follows both files; fails where a step does."""
    with ExitStack() as stack:
        given = sys.argv[1] if len(sys.argv) > 1 else None
        folder = Path(given or stack.enter_context(tempfile.TemporaryDirectory(prefix="image")))
        folder = folder.resolve()
        print("Dockerfile")
        image = Image(folder)
        port = free()
        command = [word.replace(":8000", f":{port}") for word in image.command]
        with ended(image.run(command)):
            image.healthy(image.health, port)
            trace = next((ROOT / "tests" / "traces").glob("*.txt")).read_text(encoding="utf-8")
            assert asked(port, "/api/v1/diagnoses", body={"text": trace})["causes"]
        print("  it answers, and is healthy\ndeploy/compose.yaml")
        composed(image, stack)


if __name__ == "__main__":
    main()
