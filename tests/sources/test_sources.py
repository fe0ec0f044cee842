"""The files behind a report: which are found, which are refused and why; real files in real folders."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.errors import DiagnoseError
from diagnose.model import Frame
from diagnose.sources import Folder, Given, SourceFile, Sources, per_report
from diagnose.sources.trees import components, shared

NET = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x + self.pe\n"
FRAME = Frame("/cluster/job/models/net.py", 6, "forward", "return x + self.pe")


def tree(root: Path, **files: str) -> Path:
    """A folder with files, whose names have ``__`` for a slash."""
    for name, text in files.items():
        *folder, package = name.removesuffix("____init__").split("__")
        path = root.joinpath(*folder, package)
        path = path / "__init__.py" if name.endswith("____init__") else path.with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def path_of(found: SourceFile | None) -> str | None:
    return None if found is None else found.path


# --- a frame's file ----------------------------------------------------------------------------------------


def test_a_file_is_used_at_its_printed_path(tmp_path: Path) -> None:
    tree(tmp_path, net=NET)
    sources = Sources()
    frame = FRAME._replace(file=str(tmp_path / "net.py"))
    found = sources.of(frame)
    assert found == SourceFile(frame.file, frame.file, tuple(NET.split("\n")))
    assert sources.used == (found,)
    assert sources.unused == ()


def test_a_file_that_is_not_on_this_machine_is_nothing_to_tell() -> None:
    sources = Sources()
    assert sources.of(FRAME) is None
    assert (sources.used, sources.unused) == ((), ())


def test_a_file_that_has_changed_is_not_used_and_says_where(tmp_path: Path) -> None:
    tree(tmp_path, net="# a new line\n" + NET)
    sources = Sources()
    name = str(tmp_path / "net.py")
    assert sources.of(FRAME._replace(file=name)) is None
    assert [(one.file, one.reason, one.line) for one in sources.unused] == [(name, "changed", 6)]


def test_a_copy_in_a_folder_stands_in_for_one_that_has_changed(tmp_path: Path) -> None:
    tree(tmp_path, new__net="# a new line\n" + NET, old__net=NET)
    sources = Sources([Folder(str(tmp_path / "old"))])
    frame = FRAME._replace(file=str(tmp_path / "new" / "net.py"))
    assert path_of(sources.of(frame)) == str(tmp_path / "old" / "net.py")
    assert sources.unused == ()


def test_the_longest_ending_decides_where_lines_are_alike(tmp_path: Path) -> None:
    tree(tmp_path, net=NET, models__net=NET, other__net=NET, old__models__net="# old\n" + NET)
    found = Sources([Folder(str(tmp_path))]).of(FRAME)
    assert path_of(found) == str(tmp_path / "models" / "net.py")


def test_the_name_of_the_folder_itself_belongs_to_the_ending(tmp_path: Path) -> None:
    tree(tmp_path, a__models__net=NET, a__other__net=NET)
    folders = [Folder(str(tmp_path / "a" / name)) for name in ("other", "models")]
    assert path_of(Sources(folders).of(FRAME)) == str(tmp_path / "a" / "models" / "net.py")


def test_the_line_decides_between_files_of_a_name(tmp_path: Path) -> None:
    tree(tmp_path, models__net="pass\n", elsewhere__net=NET)
    found = Sources([Folder(str(tmp_path))]).of(FRAME)
    assert path_of(found) == str(tmp_path / "elsewhere" / "net.py")


def test_all_frames_of_a_file_decide(tmp_path: Path) -> None:
    tree(tmp_path, a__net=NET, b__net=NET + "\n\nnet = Net()\n")
    sources = Sources([Folder(str(tmp_path))])
    frame = FRAME._replace(file="net.py")
    sources.about([frame, Frame("net.py", 9, "<module>", "net = Net()")])
    assert path_of(sources.of(frame)) == str(tmp_path / "b" / "net.py")


def test_files_that_fit_alike_are_not_used(tmp_path: Path) -> None:
    tree(tmp_path, a__net=NET, b__net=NET)
    sources = Sources([Folder(str(tmp_path))])
    assert sources.of(FRAME) is None
    (unused,) = sources.unused
    assert unused.reason == "ambiguous"
    assert {Path(path).parent.name for path in unused.others} == {"a", "b"}


def test_a_file_that_two_folders_reach_is_one(tmp_path: Path) -> None:
    tree(tmp_path, a__net=NET)
    folders = [Folder(str(tmp_path)), Folder(str(tmp_path / "a"))]
    assert Sources(folders).of(FRAME) is not None


def test_a_file_that_is_in_no_folder_is_told(tmp_path: Path) -> None:
    sources = Sources([Folder(str(tmp_path))])
    assert sources.of(FRAME) is None
    assert [(one.file, one.reason) for one in sources.unused] == [(FRAME.file, "absent")]


@pytest.mark.parametrize("file", [r"C:\job\models\net.py", "./models/../models/net.py", "net.py"])
def test_paths_of_any_system_are_found_by_their_end(file: str, tmp_path: Path) -> None:
    tree(tmp_path, models__net=NET)
    assert Sources([Folder(str(tmp_path))]).of(FRAME._replace(file=file)) is not None


def test_a_single_file_may_be_named(tmp_path: Path) -> None:
    tree(tmp_path, net=NET, other=NET)
    found = Sources([Folder(str(tmp_path / "net.py"))]).of(FRAME)
    assert path_of(found) == str(tmp_path / "net.py")


def test_tabs_that_a_printer_expanded_are_no_change(tmp_path: Path) -> None:
    tree(tmp_path, net=NET.replace("return x", "return\tx"))
    assert Sources([Folder(str(tmp_path))]).of(FRAME) is not None


@pytest.mark.parametrize(
    ("line", "function", "used"),
    [
        (6, "forward", True),
        (6, "Net.forward", True),
        (6, "backward", False),
        (6, "<module>", False),
        (6, None, False),
        (5, "forward", False),
        (4, "<module>", True),
        (3, "<module>", False),
        (60, "forward", False),
        (None, "forward", False),
    ],
)
def test_without_a_printed_line_the_function_decides(
    line: int | None, function: str | None, used: bool, tmp_path: Path
) -> None:
    tree(tmp_path, net=NET)
    frame = Frame("/job/net.py", line, function)
    assert (Sources([Folder(str(tmp_path))]).of(frame) is not None) is used


def test_the_last_line_of_a_file_may_lack_its_line_feed(tmp_path: Path) -> None:
    tree(tmp_path, net=NET.rstrip("\n"))
    assert Sources([Folder(str(tmp_path))]).of(FRAME) is not None


# --- what is not opened ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "/proc/self/mem",
        "/dev/zero",
        "/dev/zero/x.py",
        "a\0b.py",
        "/".join(["x"] * 10_000) + ".py",
        "x" * 5000 + ".py",
        r"\\server\share\net.py",
        "//server/share/net.py",
        "~/net.py",
        "$HOME/net.py",
        "<string>",
        "<ipython-input-1-abc>",
        "..",
        "",
        "\udcff.py",
        "../" * 500 + "etc/passwd",
    ],
)
def test_hostile_names_find_nothing(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(NET)
    for sources in (Sources(), Sources([Folder(str(tmp_path))]), Sources([Given({"a.py": NET})])):
        assert sources.of(Frame(name, 6, "forward", "return x + self.pe")) is None
        assert sources.library(Frame(name, 6, "forward", "return x + self.pe")) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_no_pipe_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "net.py")
    assert Sources([Folder(str(tmp_path))]).of(FRAME) is None
    assert Sources().of(FRAME._replace(file=str(tmp_path / "net.py"))) is None


def test_a_large_or_broken_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET + "#" * 2_000_000)
    (tmp_path / "odd.py").write_bytes(NET.encode() + b"# \xff\n")
    sources = Sources([Folder(str(tmp_path))])
    assert sources.of(FRAME) is sources.of(FRAME._replace(file="odd.py")) is None
    assert [one.reason for one in sources.unused] == ["large", "unreadable"]


def test_other_peoples_folders_are_left_out(tmp_path: Path) -> None:
    for folder in (".git", ".venv", "node_modules", "lib__site-packages__x", "__pycache__"):
        tree(
            tmp_path / folder.replace("__", "/") if "lib" in folder else tmp_path / folder, net=NET
        )
    tree(tmp_path / "env" / "lib", net=NET)
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    sources = Sources([Folder(str(tmp_path))])
    assert sources.of(FRAME) is None
    assert [one.reason for one in sources.unused] == ["absent"]


def test_links_that_lead_in_circles_end(tmp_path: Path) -> None:
    tree(tmp_path, a__net=NET)
    (tmp_path / "a" / "again").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "a" / "self.py").symlink_to(tmp_path / "a" / "self.py")
    assert Sources([Folder(str(tmp_path))]).of(FRAME) is not None


def test_a_folder_with_too_many_files_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("diagnose.sources.trees._MOST_FILES", 3)
    tree(tmp_path, net=NET, deep__a="", deep__b="", deep__c="")
    sources = Sources([Folder(str(tmp_path))])
    assert sources.of(FRAME) is not None
    assert [(one.file, one.reason) for one in sources.unused] == [(str(tmp_path), "crowded")]


def test_of_a_librarys_file_nothing_is_told(tmp_path: Path) -> None:
    tree(tmp_path, net="# other\n" + NET)
    sources = Sources([Folder(str(tmp_path))])
    frame = FRAME._replace(file="/opt/lib/site-packages/peft/net.py", library="peft")
    assert sources.of(frame) is None
    assert sources.of(frame._replace(file="/opt/lib/site-packages/peft/gone.py")) is None
    assert sources.unused == ()


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DiagnoseError, match="no such file or folder"):
        per_report([str(tmp_path / "gone")])


def test_what_came_with_a_request_never_touches_the_disk(tmp_path: Path) -> None:
    tree(tmp_path, net=NET, other="x = 1\n")
    sources = Sources([Given({"up/train.py": "import other\n"})], read=None)
    assert sources.of(FRAME._replace(file=str(tmp_path / "net.py"))) is None
    train = sources.of(Frame(str(tmp_path / "train.py"), 1, "<module>", "import other"))
    assert train is not None and train.path == "up/train.py"
    for module, level in (("other", 0), ("other", 1), ("other", 9)):
        assert sources.imported(module, train._replace(path=str(tmp_path / "x.py")), level) is None


# --- imports -----------------------------------------------------------------------------------------------


def script(root: Path, name: str = "train") -> SourceFile:
    path = str(root / (name.replace("__", "/") + ".py"))
    return SourceFile(path, path, ("", ""))


@pytest.mark.parametrize(
    ("by", "module", "level", "found"),
    [
        ("train", "models.net", 0, "models/net.py"),
        ("train", "models", 0, "models/__init__.py"),
        ("train", "tools", 0, "tools.py"),
        ("train", "job.tools", 0, "tools.py"),
        ("models__net", "layers", 1, "models/layers.py"),
        ("models__net", "", 1, "models/__init__.py"),
        ("models__net", "tools", 2, "tools.py"),
        ("models__net", "tools", 0, "tools.py"),
        ("models__net", "models.layers", 0, "models/layers.py"),
        ("models__net", "layers", 0, "models/layers.py"),
        ("train", "gone", 0, None),
        ("train", "logging", 0, None),
        ("train", "os.path", 0, None),
        ("train", "torch", 0, None),
        ("train", "models/net", 0, None),
        ("train", "..tools", 0, None),
        ("train", "", 0, None),
        ("train", "a." * 1000 + "b", 0, None),
    ],
)
def test_imports_between_the_users_files(
    by: str, module: str, level: int, found: str | None, tmp_path: Path
) -> None:
    root = tree(
        tmp_path / "job",
        train="",
        tools="",
        logging="",
        models____init__="",
        models__net="",
        models__layers="",
    )
    other = Sources().imported(module, script(root, by), level)
    assert path_of(other) == (None if found is None else str(root / found))


def test_an_import_is_found_in_the_folders(tmp_path: Path) -> None:
    root = tree(tmp_path, app__train="", lib__pkg__net=NET, a__twice__x="", b__twice__x="")
    sources = Sources([Folder(str(root))])
    by = script(root / "app")
    assert path_of(sources.imported("pkg.net", by)) == str(root / "lib" / "pkg" / "net.py")
    assert sources.imported("twice.x", by) is None  # two files of that name
    assert sources.imported("net", by) is None  # one word says too little


def test_a_part_of_a_package_that_is_named_after_a_library_is_not_that(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        run="",
        pkg____init__="",
        pkg__torch____init__="",
        pkg__torch__net=NET,
        pkg__torch__nn="",
        pkg__torch__tools="",
    )
    sources = Sources([Folder(str(root))])
    by = script(root / "pkg" / "torch", "net")
    assert sources.imported("torch", by) is None
    assert sources.imported("torch.nn", by) is None
    assert path_of(sources.imported("tools", by)) == str(root / "pkg" / "torch" / "tools.py")
    assert path_of(sources.imported("pkg.torch.nn", by)) == str(root / "pkg" / "torch" / "nn.py")


def test_an_import_is_found_beside_the_script(tmp_path: Path) -> None:
    root = tree(tmp_path, job__train="main()\n", job__tools="", lib__pkg__net=NET)
    sources = Sources()
    net = FRAME._replace(file=str(root / "lib" / "pkg" / "net.py"))
    train = Frame(str(root / "job" / "train.py"), 1, "<module>", "main()")
    sources.about([train, net])
    by = sources.of(net)
    assert by is not None
    assert path_of(sources.imported("tools", by)) == str(root / "job" / "tools.py")


def test_a_file_of_the_traceback_stays_the_same_where_it_is_imported(tmp_path: Path) -> None:
    root = tree(tmp_path, train="import net\n", net=NET)
    sources = Sources([Folder(str(root))])
    train, net = Frame("/job/train.py", 1, "<module>", "import net"), FRAME
    sources.about([train, net])
    by = sources.of(train)
    assert by is not None
    assert sources.imported("net", by) is sources.of(net)
    assert sources.of(net).name == FRAME.file  # type: ignore[union-attr]


def test_installed_packages_are_nobodys_own(tmp_path: Path) -> None:
    root = tree(tmp_path / "site-packages", train="", tools="")
    assert Sources().imported("tools", script(root)) is None


# --- libraries ---------------------------------------------------------------------------------------------


def test_the_file_of_an_installed_package_where_its_line_matches() -> None:
    path = Path(pytest.__file__)
    number, code = next(
        (n, line) for n, line in enumerate(path.read_text().split("\n"), 1) if "import" in line
    )
    frame = Frame(f"/opt/lib/site-packages/pytest/{path.name}", number, "f", code, "pytest")
    sources = Sources()
    found = sources.library(frame)
    assert found is not None and Path(found.path).samefile(path)
    assert sources.library(frame._replace(code="something else")) is None
    assert sources.library(frame._replace(code=None)) is None


def test_the_version_of_an_installed_package() -> None:
    from diagnose.sources.installed import version

    assert version("pytest") == pytest.__version__
    assert version("_pytest") == pytest.__version__
    assert version("no_such_package_anywhere") is None
    assert version("") is version("../x") is None


def test_nothing_that_is_found_is_run(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    trap = f"open({str(mark)!r}, 'w')\n"
    root = tree(tmp_path / "job", train=trap, tools____init__=trap)
    sources = Sources([Folder(str(root))])
    by = sources.of(Frame("train.py", 1, "<module>"))
    assert by is not None and sources.imported("tools", by) is not None
    assert not mark.exists() and "tools" not in sys.modules


# --- properties --------------------------------------------------------------------------------------------

PARTS = st.lists(st.sampled_from(["a", "b", "..", ".", "", "net.py"]), max_size=6)


@given(PARTS, PARTS, PARTS)
def test_what_paths_share_at_their_end(left: list[str], right: list[str], end: list[str]) -> None:
    one, other = components("/".join([*left, *end])), components("\\".join([*right, *end]))
    count = shared(one, other)
    assert count == shared(other, one)
    assert one[len(one) - count :] == other[len(other) - count :]
    assert ".." not in one[len(one) - count :]
    if ".." not in end:
        assert count >= len(components("/".join(end)))


@given(st.dictionaries(st.text(max_size=20), st.just(NET), max_size=5), st.text(max_size=20))
def test_names_of_any_text_are_no_harm(files: dict[str, str], name: str) -> None:
    sources = Sources([Given(files)], read=None)
    found = sources.of(FRAME._replace(file=name))
    if found is not None:
        assert components(found.path)[-1] == components(name)[-1]
    if name in files and components(name) and not name.startswith("<"):
        assert found is not None or sources.unused[0].reason == "ambiguous"


def test_what_a_relative_name_finds_over_the_path_is_not_the_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from diagnose.sources import read_cached

    folder = tmp_path / "site-packages" / "some_library"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(str(folder.parent))
    assert read_cached("some_library/__init__.py") is None
    assert read_cached("json/__init__.py") is None
    assert read_cached(str(folder / "__init__.py")) is not None
