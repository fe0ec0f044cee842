"""Python files beside a paste: used for the answer, bounded, never a file of the server."""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from web.conftest import LIMIT

API = "/api/v1/diagnoses"
NET = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.pe = torch.zeros(1, 8)  # <script>alert(1)</script> \u202e

    def forward(self, x):
        return x + self.pe


net = Net()
"""
TEXT = """\
Traceback (most recent call last):
  File "/home/user/job/models/net.py", line 10, in forward
    return x + self.pe
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
"""


def zipped(method: int = zipfile.ZIP_DEFLATED, **files: bytes | str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/") + ".py", content)
    return data.getvalue()


def posted(client: FlaskClient, *files: tuple[bytes, str], url: str = API) -> Any:
    chosen = [(io.BytesIO(data), name) for data, name in files]
    return client.post(url, data={"text": TEXT, "files": chosen})


def test_files_in_json_make_a_diff(client: FlaskClient) -> None:
    body = {"text": TEXT, "files": {"models/net.py": NET, "other.py": "x = 1\n"}}
    answer = client.post(API, json=body).get_json()
    assert answer["sources"] == ["models/net.py"]
    patches = [fix["patch"] for cause in answer["causes"] for fix in cause["fixes"]]
    assert any(patch and patch.startswith("--- a/net.py\n") for patch in patches)
    assert client.post(API, json={"text": TEXT, "files": None}).get_json()["sources"] == []


@pytest.mark.parametrize(
    "files",
    [
        [(NET.encode(), "net.py")],
        [(b"x = 1\n", "a.py"), (NET.encode(), "job/models/net.py")],
        [(zipped(job__models__net=NET, job__other__net=NET), "job.zip")],
        [(zipped(zipfile.ZIP_STORED, net=NET), "job.zip"), (b"", "empty.py")],
        [(zipped(**{"site-packages__models__net": NET, ".git__net": NET, "net": NET}), "x.zip")],
        [(NET.encode("utf-8-sig"), "net.py")],
        [(NET.replace("\n", "\r\n").encode(), "net.py")],
    ],
)
def test_files_and_zips_are_used(files: list[tuple[bytes, str]], client: FlaskClient) -> None:
    answer = posted(client, *files).get_json()
    assert len(answer["sources"]) == 1
    assert answer["sources"][0].endswith("net.py")


def test_a_file_that_does_not_fit_is_told(client: FlaskClient) -> None:
    answer = posted(client, (b"# new\n" + NET.encode(), "net.py")).get_json()
    assert answer["sources"] == []
    assert answer["unused_sources"] == [
        {"file": "net.py", "line": 10, "reason": "changed", "why": "line 10 reads otherwise"}
    ]
    zh = client.post(API, json={"text": TEXT, "lang": "zh", "files": {"x.py": ""}}).get_json()
    assert [one["why"] for one in zh["unused_sources"]] == ["不在任何指定的目录中"]


@pytest.mark.parametrize(
    ("files", "status", "said"),
    [
        ([(b"PK\3\4 no zip at all", "job.zip")], 400, "job.zip cannot be read as a zip"),
        ([(zipped(net=NET)[:-30], "job.zip")], 400, "cannot be read as a zip"),
        ([(zipped(zipfile.ZIP_LZMA, net=NET), "job.zip")], 400, "cannot be read as a zip"),
        ([(zipped(net="#" * 50_000_000), "job.zip")], 413, "larger than 195 KiB together"),
        ([(zipped(a=" " * 150_000, b=" " * 150_000), "job.zip")], 413, "together"),
        ([(b" " * 150_000, "a.py"), (b" " * 150_000, "b.py")], 413, "together"),
        ([(b"", f"{n}.py") for n in range(101)], 413, "more than 100"),
        ([(zipped(**{f"n{n}": "" for n in range(101)}), "x.zip")], 413, "more than 100"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(
    files: list[tuple[bytes, str]], status: int, said: str, client: FlaskClient
) -> None:
    assert LIMIT == 200_000
    response = posted(client, *files)
    assert response.status_code == status
    assert said in response.get_json(force=True)["detail"]


@pytest.mark.parametrize("files", ["x", [], {"a": 1}, {"a": None}, 3])
def test_files_of_another_kind_are_refused(files: Any, client: FlaskClient) -> None:
    response = client.post(API, json={"text": TEXT, "files": files})
    assert response.status_code == 400
    assert "files must be an object" in response.get_json(force=True)["detail"]


def test_hostile_names_are_only_names(tmp_path: Path, client: FlaskClient) -> None:
    names = ["../../net.py", "/etc/net.py", "a\0/net.py", "\n<b>net.py", "x" * 5000 + "/net.py"]
    for name in names:
        answer = client.post(API, json={"text": TEXT, "files": {name: NET}}).get_json()
        assert len(answer["sources"]) <= 1
    assert list(tmp_path.iterdir()) == []


def test_no_file_of_the_server_is_read(tmp_path: Path, client: FlaskClient) -> None:
    path = tmp_path / "models" / "net.py"
    path.parent.mkdir()
    path.write_text(NET)
    text = TEXT.replace("/home/user/job/models/net.py", str(path))
    for files in ({}, {"other.py": "import net\n"}):
        answer = client.post(API, json={"text": text, "files": files}).get_json()
        assert answer["sources"] == []


def test_the_page_shows_the_file_around_the_line_escaped(client: FlaskClient) -> None:
    page = posted(client, (NET.encode(), "net.py"), url="/").text
    listing = page[page.index('class="lines listing"') :]
    listing = listing[: listing.index("</table>")]
    numbers = [int(n) for n in re.findall(r'<th scope="row">(\d+)</th>', listing)]
    assert numbers == list(range(2, 13))  # around the line that defines the stray
    assert "<mark>        self.pe = torch.zeros(1, 8)  # &lt;script&gt;" in listing
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in listing and "<script>alert" not in page
    assert "\u202e" not in listing
    assert "Source read: net.py." in page


def test_the_page_sends_the_used_files_along(client: FlaskClient) -> None:
    page = posted(client, (NET.encode(), "net.py"), (b"x = 1\n", "unused.py"), url="/").text
    kept = re.search(r'name="kept" value="([^"]*)"', page)
    assert kept is not None
    value = html.unescape(kept[1])
    assert json.loads(value) == {"net.py": NET}
    again = client.post("/", data={"text": TEXT, "kept": value}).text
    assert "Source read: net.py." in again
    assert client.post("/", data={"text": TEXT, "kept": "[" * 100_000}).status_code == 400


def test_a_script_where_the_log_is_chosen_is_a_source_beside_a_paste(client: FlaskClient) -> None:
    def page(text: str, name: str) -> str:
        chosen = (io.BytesIO(NET.encode()), name)
        return client.post("/", data={"text": text, "file": chosen}).text

    assert "Source read: net.py." in page(TEXT, "net.py")
    assert "No error found" in page("", "net.py"), "alone it is what is read"
    assert "No error found" in page(TEXT, "net.log"), "a log goes before the paste"
