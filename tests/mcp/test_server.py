"""The server for agents, driven by the client of the protocol's own SDK: over both transports, in both eras."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.mcpserver.exceptions import ToolError

from diagnose.casebase.store import Casebase
from diagnose.mcp.server import server
from diagnose.mcp.skill import llms, skill
from diagnose.mcp.tools import Settings, Tools
from diagnose.rendering.json import QUOTED

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
TRACE = (ROOT / "tests/traces/easyedit-memit-delta.txt").read_text()
PROGRAM = "import torch\n\nx = torch.ones(2, device='cuda')\nprint(x + torch.ones(2))\n"
ERAS = ("auto", "legacy")
#: Characters of a token, as measured over answers.
TOKEN = 4.3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "train.log").write_text(TRACE)
    return tmp_path


def arguments(folder: Path) -> list[str]:
    return [
        "-m",
        "diagnose",
        "mcp",
        "--root",
        str(folder),
        "--prove",
        "--store",
        f"{folder}/s.sqlite",
    ]


def in_process(folder: Path, work: Callable[[Client], Awaitable[Any]], mode: str = "auto") -> Any:
    """What some work with a client of a server in this process gives."""
    made = server(Settings((folder,), prove=True, store=f"{folder}/s.sqlite"))

    async def run() -> Any:
        async with Client(made, mode=mode) as client:
            return await work(client)

    return anyio.run(run)


def told(result: Any, folder: Path) -> str:
    """A result as the golden files have it."""
    found = result.model_dump(by_alias=True, exclude_none=True, mode="json")
    found.pop("_meta", None)
    return json.dumps(found, indent=1, ensure_ascii=False).replace(str(folder), "FOLDER") + "\n"


async def everything(client: Client) -> dict[str, Any]:
    """What the tools that run nothing answer, and what their answers link to."""
    answer = await client.call_tool("diagnose", {"text": TRACE})
    linked = [part.uri for part in answer.content if part.type == "resource_link"]
    pages = [await client.read_resource(uri) for uri in linked]
    return {
        "tools": await client.list_tools(),
        "diagnose": answer,
        "diagnose-file": await client.call_tool("diagnose", {"file": "train.log", "full": True}),
        "check": await client.call_tool("check", {"paths": ["train.py"]}),
        "outside": await client.call_tool("check", {"paths": ["/etc/passwd"]}),
        "recall": await client.call_tool("recall", {"text": TRACE}),
        "page": pages[0],
    }


@contextmanager
def listening(folder: Path) -> Iterator[str]:
    """The address of a server of its own process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, *arguments(folder), "--http", "--port", str(port)]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL) as process:
        try:
            while process.poll() is None:
                with socket.socket() as tried:
                    if tried.connect_ex(("127.0.0.1", port)) == 0:
                        break
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


def test_every_way_gives_the_same(folder: Path, renew: bool, casebase: Casebase) -> None:
    """Over standard input and HTTP, in the protocol of today and the one before."""

    async def over(client: Client) -> dict[str, str]:
        async with client as connected:
            return {k: told(v, folder) for k, v in (await everything(connected)).items()}

    async def run(address: str) -> list[dict[str, str]]:
        found = []
        for mode in ERAS:
            process = StdioServerParameters(
                command=sys.executable, args=arguments(folder), env=dict(os.environ), cwd=folder
            )
            found.append(await over(Client(stdio_client(process), mode=mode)))
            found.append(await over(Client(address, mode=mode)))
        return found

    with listening(folder) as address:
        first, *others = anyio.run(run, address)
    for name, text in first.items():
        if name in ("tools", "diagnose", "recall", "outside"):
            golden = GOLDEN / f"{name}.json"
            if renew:
                golden.write_text(text)
            assert text == golden.read_text()
    for other in others:
        assert {k: without_era(v) for k, v in other.items()} == {
            k: without_era(v) for k, v in first.items()
        }


def without_era(text: str) -> Any:
    """An answer without what only one version of the protocol has."""
    found = json.loads(text)
    return {k: v for k, v in found.items() if k not in ("resultType", "ttlMs", "cacheScope")}


def test_what_the_tools_cost(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tools = in_process(folder, lambda client: client.list_tools()).tools
    listed = [one.model_dump(by_alias=True, exclude_none=True, mode="json") for one in tools]
    tokens = len(json.dumps(listed, ensure_ascii=False)) / TOKEN
    with capsys.disabled():
        print(f"\ntokens of the definitions: {tokens:.0f}")
    assert [one["name"] for one in listed] == ["diagnose", "check", "prove", "remember", "recall"]
    assert tokens <= 1200
    reads = {one["name"] for one in listed if one["annotations"]["readOnlyHint"]}
    assert reads == {"diagnose", "check", "recall"}


def test_only_what_was_asked_for(tmp_path: Path) -> None:
    async def names(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    async def run() -> list[str]:
        async with Client(server(Settings((tmp_path,)))) as client:
            return await names(client)

    assert anyio.run(run) == ["diagnose", "check"]


def test_text_and_values_say_the_same(folder: Path) -> None:
    answer = in_process(folder, lambda client: client.call_tool("diagnose", {"text": TRACE}))
    text, values = answer.content[0].text, answer.structured_content
    cause = values["causes"][0]
    assert cause["title"] in text
    assert all(line in text for line in cause["fixes"][0]["edit"]["after"].splitlines())
    assert 0 < len(values["next"]) <= 3
    assert all(command in text for command in values["next"])
    assert "traceback.txt" not in text  # there is no such file
    assert values["quoted"] == list(QUOTED)


def test_sources_give_a_patch(folder: Path) -> None:
    log = (
        'Traceback (most recent call last):\n  File "/w/train.py", line 4, in <module>\n'
        "    print(x + torch.ones(2))\nRuntimeError: Expected all tensors to be on the same device, but "
        "found at least two devices, cuda:0 and cpu!\n"
    )
    given = {"text": log, "sources": ["."]}
    answer = in_process(folder, lambda client: client.call_tool("diagnose", given))
    assert "+print(" in answer.structured_content["causes"][0]["fixes"][0]["patch"]


def test_a_fix_is_remembered_and_recalled(folder: Path) -> None:
    async def work(client: Client) -> list[Any]:
        before = await client.call_tool("recall", {"text": TRACE})
        given = {"text": TRACE, "fixed_by": "moved delta", "outcome": "worked"}
        return [
            before,
            await client.call_tool("remember", given),
            await client.call_tool("recall", {"text": TRACE}),
        ]

    before, written, after = in_process(folder, work)
    assert before.structured_content["seen"] is None
    for result in (written, after):
        assert result.structured_content["seen"]["fixes"][0]["text"] == "moved delta"
        assert "moved delta" in result.content[0].text


def test_a_proof_is_of_a_copy(folder: Path) -> None:
    found = in_process(folder, lambda client: client.call_tool("prove", {"script": "train.py"}))
    assert found.structured_content["level"] == "proven"
    assert "+" in found.structured_content["diff"]
    assert (folder / "train.py").read_text() == PROGRAM


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "either a text or a file"),
        ({"text": "x", "file": "train.log"}, "either a text or a file"),
        ({"file": "../train.log"}, "outside"),
        ({"file": "missing.log"}, "there is no"),
        ({"text": "x", "sources": ["/"]}, "outside"),
    ],
)
def test_what_is_refused(folder: Path, given: dict[str, Any], said: str) -> None:
    with pytest.raises(ToolError, match=said):
        Tools(Settings((folder,))).diagnose(**given)


def test_a_link_leaves_no_folder(folder: Path) -> None:
    (folder / "link").symlink_to("/etc")
    with pytest.raises(ToolError, match="outside"):
        Tools(Settings((folder,))).check(["link/passwd"])


def test_no_such_page(folder: Path) -> None:
    async def work(client: Client) -> str:
        with pytest.raises(MCPError) as refused:
            await client.read_resource("diagnose://cause/none")
        return str(refused.value)

    assert "no cause" in in_process(folder, work)


@pytest.mark.parametrize(("name", "make"), [("SKILL.md", skill), ("llms.txt", llms)])
def test_what_is_generated_is_current(name: str, make: Callable[[], str], renew: bool) -> None:
    if renew:
        (GOLDEN.parents[2] / name).write_text(make())
    assert (ROOT / name).read_text() == make()
    assert len(make()) / TOKEN <= 1200
