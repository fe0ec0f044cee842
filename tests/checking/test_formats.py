"""The forms of a check's findings: golden files (renew with --renew), and what each form's readers ask."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from checking.conftest import MASK, TABLE
from checking.test_command import check

from diagnose.checking.formats import FORMATS, github
from diagnose.checking.model import Finding, Place, Report

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("form", FORMATS)
def test_each_form_is_as_recorded(project: Path, form: str, renew: bool) -> None:
    made = check("--format", form, ".", cwd=project).stdout
    made = re.sub(r'("name": "diagnose",\s+"version": )"[^"]*"', r'\1"VERSION"', made)
    golden = GOLDEN / f"{form}.txt"
    if renew:
        golden.write_text(made, encoding="utf-8")
    assert made == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_found_is_a_document_too(project: Path, form: str) -> None:
    run = check("--format", form, "train.py", cwd=project)
    assert run.returncode == 0
    if form in ("json", "sarif"):
        json.loads(run.stdout)
    else:
        assert run.stdout.count("\n") == (form == "text")


# --- SARIF --------------------------------------------------------------------------------------------


def sarif(*args: str, cwd: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(check("--format", "sarif", *args, cwd=cwd).stdout)
    return document


def regions(value: Any) -> list[dict[str, Any]]:
    """Every region of a document."""
    if isinstance(value, list):
        return [region for one in value for region in regions(one)]
    if not isinstance(value, dict):
        return []
    own = [value] if "startLine" in value else []
    return own + [region for one in value.values() for region in regions(one)]


def test_sarif_holds_what_its_standard_demands(project: Path) -> None:
    (project / "a b,ü#%.py").write_text(MASK)
    (project / "broken.py").write_text("def\n")
    document = sarif(".", cwd=project)
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-2.1.0.json")
    assert set(document) == {"$schema", "version", "runs"}
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "diagnose" and driver["version"]
    # Only the rules that fired, each once, and each result points at its own.
    rules = [rule["id"] for rule in driver["rules"]]
    assert sorted(rules) == sorted({one["ruleId"] for one in run["results"]})
    assert len(set(rules)) == len(rules)
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"] and rule["help"]["text"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["message"]["text"]
        (location,) = result["locations"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"[\w.~%/-]+", uri, re.ASCII) and not uri.startswith("/")
        assert (project / unquote(uri)).is_file()
        (key,) = result["partialFingerprints"]
        assert re.fullmatch(r"[0-9a-f]{32}", result["partialFingerprints"][key])
        assert [one["id"] for one in result["relatedLocations"]] == [
            *range(1, len(result["relatedLocations"]) + 1)
        ]
    for region in regions(document):
        assert region["startLine"] >= 1 and region["startColumn"] >= 1
        assert (region["endLine"], region["endColumn"]) >= (
            region["startLine"],
            region["startColumn"],
        )
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is True
    (notice,) = invocation["toolExecutionNotifications"]
    assert notice["message"]["text"].startswith("broken.py:1 cannot be read")


def test_sarifs_fixes_make_what_fix_makes(project: Path) -> None:
    for result in sarif(".", cwd=project)["runs"][0]["results"]:
        (fix,) = result["fixes"]
        (change,) = fix["artifactChanges"]
        path = project / unquote(change["artifactLocation"]["uri"])
        lines = path.read_text().splitlines(keepends=True)
        for one in change["replacements"]:
            region = one["deletedRegion"]
            assert region["startColumn"] == region["endColumn"] == 1
            lines[region["startLine"] - 1 : region["endLine"] - 1] = [
                one["insertedContent"]["text"]
            ]
        path.write_text("".join(lines))
    assert check(".", cwd=project).returncode == 0


def fingerprints(project: Path) -> list[str]:
    results = sarif("model/mask.py", cwd=project)["runs"][0]["results"]
    return [one["partialFingerprints"]["diagnose/v1"] for one in results]


def test_a_fingerprint_outlives_what_happens_elsewhere(project: Path) -> None:
    path = project / "model" / "mask.py"
    (before,) = fingerprints(project)
    path.write_text(f"# A comment.\n\n\nx = 1\n{MASK}")
    assert fingerprints(project) == [before]
    path.write_text(MASK.replace("        mask = torch", "        mask  =  torch"))
    assert fingerprints(project) == [before]
    path.write_text(MASK.replace("ones", "zeros"))
    assert fingerprints(project) != [before]


def test_equal_lines_are_told_apart(project: Path) -> None:
    path = project / "model" / "mask.py"
    (before,) = fingerprints(project)
    twice = "        mask = torch.ones(x.shape[0], 8)\n        x = x * mask\n"
    path.write_text(MASK.replace("        mask = torch.ones(x.shape[0], 8)\n", twice * 2))
    one, two = fingerprints(project)
    assert one == before != two


# --- GitHub -------------------------------------------------------------------------------------------


def test_annotations_escape_what_would_end_them() -> None:
    place = Place("a,b:c%\n.py", 3, 5, 3, 9, "code")
    report = Report(1, (Finding("index-device", "`100%\r\n::error::x`", place),))
    assert github.render(report) == (
        "::warning file=a%2Cb%3Ac%25%0A.py,line=3,endLine=3,col=5,endColumn=9,"
        "title=diagnose (index-device)::`100%25\\r\\n::error::x`\n"
    )


def test_annotations_of_several_lines_have_no_columns() -> None:
    place = Place("a.py", 3, 5, 4, 9, "code")
    (line,) = github.render(Report(1, (Finding("index-device", "x", place),))).splitlines()
    assert "line=3,endLine=4,title=" in line


def test_wide_files_are_marked_where_they_are(project: Path) -> None:
    (project / "train.py").write_text(TABLE.replace("self.table =", "名 = 'é'; self.table ="))
    run = check("--format", "json", "train.py", cwd=project)
    (finding,) = json.loads(run.stdout)["findings"]
    assert finding["code"][finding["column"] - 1 : finding["end_column"] - 1] == (
        "self.table = torch.arange(8.0)"
    )
