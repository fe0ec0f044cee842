"""Search by symptom words: silent incidents are found, whatever language and words they are told in."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose._toml import loads
from diagnose.casebase import search as searching
from diagnose.casebase.notions import notions
from diagnose.casebase.search import search
from diagnose.casebase.store import Casebase, load
from diagnose.commands.doors import doors

PHRASES = loads(Path(__file__).with_name("symptoms.toml").read_text(encoding="utf-8"))
VOCABULARY = Path(searching.__file__).with_name("symptoms.toml")


@pytest.fixture(scope="module")
def both(casebase_path: Path, casebase: Casebase) -> list[Casebase]:
    return [casebase, load(casebase_path, "zh")]


@pytest.mark.parametrize(
    ("incident", "words"), [(slug, words) for slug, said in PHRASES.items() for words in said]
)
def test_a_silent_incident_is_found_by_its_symptoms(
    incident: str, words: str, both: list[Casebase]
) -> None:
    found = [hit.id for hit in search(words, both, top=3)]
    assert incident in found


def test_every_silent_incident_has_descriptions(kb: Path) -> None:
    silent = {
        path.parent.name
        for path in (kb / "cases").glob("*/case.toml")
        if loads(path.read_text(encoding="utf-8")).get("silent")
    }
    assert silent == set(PHRASES), "describe it in tests/casebase/symptoms.toml"


def test_the_descriptions_are_not_copied_from_the_incidents(both: list[Casebase]) -> None:
    for slug, said in PHRASES.items():
        for casebase in both:
            incident = casebase.incidents[slug]
            text = " ".join([incident.title, incident.saw, incident.was]).casefold()
            assert not [words for words in said if words.casefold() in text]


@pytest.mark.parametrize(
    "words",
    [
        "nan on cuda:1",
        "NaN on GPU 1",
        "nan on gpu#1",
        "nan on cuda 1",
        "nan on the second GPU",
        "第二张显卡 nan",
        "1 号卡 nan",
        "ｎａｎ ＧＰＵ１",
    ],
)
def test_a_device_is_the_same_however_it_is_written(words: str) -> None:
    assert set(notions(words)) == {"nan", "cuda:1"}


@pytest.mark.parametrize("words", ["nan on cuda:0", "nan with cuda 11.8", "nan on cuda:10"])
def test_a_device_is_not_another_nor_a_version(words: str) -> None:
    assert "cuda:1" not in notions(words)


@pytest.mark.parametrize("word", ["diverges", "diverging", "diverged", "发散"])
def test_inflected_words_mean_the_same(word: str) -> None:
    assert set(notions(word)) == {"diverge"}


def test_a_phrase_has_one_meaning() -> None:
    known = loads(VOCABULARY.read_text(encoding="utf-8"))["notions"]
    for notion, ways in known.items():
        for way in ways:
            assert notion in notions(way), f"{way} means {list(notions(way))}"


@pytest.mark.parametrize(
    "words",
    ["transfomers static cahce", "staticcache of transformers", "trasnformers statc cache"],
)
def test_slips_of_the_pen_are_mended(words: str, both: list[Casebase]) -> None:
    assert search(words, both, top=1)[0].id == "transformers-static-cache"


def test_what_is_mended_counts_less_than_what_is_said(both: list[Casebase]) -> None:
    right, slip = (
        search(words, both)[0] for words in ("gibberish on rank 1", "gibberihs on rank 1")
    )
    assert right.score > slip.score


def test_who_says_it_as_the_query_does_comes_first(both: list[Casebase]) -> None:
    one = both[0].incidents["llms-from-scratch-out-head"]._replace(saw="", was="", mended="")
    told = {"a": "loss is nan", "b": "loss is infinite"}
    base = both[0]._replace(
        incidents={key: one._replace(id=key, title=title) for key, title in told.items()}
    )
    assert [hit.id for hit in search("loss is nan", [base], top=2)] == ["a", "b"]
    assert [hit.id for hit in search("loss is infinite", [base], top=2)] == ["b", "a"]


def test_a_name_of_several_words_says_more_than_they_do(both: list[Casebase]) -> None:
    one = both[0].incidents["llms-from-scratch-out-head"]._replace(saw="", was="", mended="")
    told = {"a": "the head is worn out by its scratch", "b": "my out_head has a scratch"}
    base = both[0]._replace(
        incidents={key: one._replace(id=key, title=title) for key, title in told.items()}
    )
    best, other = search("scratch in out_head", [base], top=2)
    assert best.id == "b"
    assert best.score > 1.2 * other.score
    known, unknown = (search(f"scratch in {name}", [base])[0] for name in ("head", "head-worn_out"))
    assert known.score > 0.5 < unknown.score  # a name that stands nowhere costs nothing


def test_chinese_particles_make_no_notions() -> None:
    assert set(notions("分类器的头")) == {"?分类", "?类器"}


def test_a_cause_is_found_too(both: list[Casebase]) -> None:
    hits = search("layers in a plain python list are not moved by .to()", both, top=10)
    (cause,) = [hit for hit in hits if hit.kind == "cause"]
    assert (cause.id, cause.url) == ("unregistered-submodule", None)


def test_both_languages_find_the_same_and_titles_are_in_the_first(both: list[Casebase]) -> None:
    words = "optimizer state on cpu after resume"
    english, chinese = search(words, both), search(words, both[::-1])
    assert [hit.id for hit in english][:3] == [hit.id for hit in chinese][:3]
    assert any("\u4e00" <= c <= "\u9fff" for c in chinese[0].title)


def test_scores_fall_and_lie_between_0_and_1(both: list[Casebase]) -> None:
    scores = [hit.score for hit in search("loss is nan after .to(cuda:1)", both, top=20)]
    assert len(scores) > 3
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


@settings(deadline=None, max_examples=30)
@given(st.text(max_size=80) | st.text(st.sampled_from('"*^:-+(){}ANDORNOT nan卡 1'), max_size=80))
def test_any_words_are_words_and_no_syntax(words: str) -> None:
    for hit in search(words, [load(lang="en"), load(lang="zh")], top=3):
        assert 0 < hit.score <= 1


def test_of_a_very_long_query_the_beginning_counts(both: list[Casebase]) -> None:
    words = "nan after a copy to cuda:1"
    long = search(words + " " * 3000 + "blah " * 1_000_000, both, top=3)
    assert long == search(words, both, top=3)


def test_a_python_without_full_text_search_says_so(
    both: list[Casebase], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Bare:
        def execute(self, sql: str) -> None:
            raise sqlite3.OperationalError("no such module: fts5")

        def close(self) -> None:
            pass

    assert search("nan", both)
    monkeypatch.setattr(searching.sqlite3, "connect", lambda path: Bare())
    with pytest.raises(searching.SearchError, match="no such module: fts5"):
        search("nan", both)


# --- the command --------------------------------------------------------------------------------------


def run(*arguments: str) -> Result:
    return CliRunner().invoke(doors, ["explain", *arguments])


def test_the_command_prints_id_title_cause_address_and_score(casebase: Casebase) -> None:
    done = run("loss is nan after .to(cuda:1)", "--top", "1")
    incident = casebase.incidents["torch-peer-copy-iommu"]
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert lines[0].startswith("0.") and incident.title.startswith(lines[0][6:])
    assert f"      {incident.id}  [{incident.cause}]" in lines
    assert f"      {incident.url}" in lines
    assert f"diagnose run --verify={incident.id}" in done.output


def test_the_command_prints_json(casebase: Casebase) -> None:
    done = run(
        "--format", "json", "--lang", "zh", "--top", "2", "loss", "is", "nan", "after .to(cuda:1)"
    )
    answer = json.loads(done.output)
    assert (answer["schema"], answer["query"]) == (1, "loss is nan after .to(cuda:1)")
    assert len(answer["results"]) == 2
    first = answer["results"][0]
    assert set(first) == {"kind", "id", "title", "cause", "url", "score"}
    assert first["id"] == "torch-peer-copy-iommu"
    assert first["title"] != casebase.incidents[first["id"]].title


@pytest.mark.parametrize("words", ["the weather in Paris tomorrow", "!!!", "xyzzy"])
def test_nothing_found_is_status_3(words: str) -> None:
    done = run("--lang", "en", words)
    assert done.exit_code == 3
    assert done.output.startswith("Nothing in the case base")
    assert json.loads(run("--format", "json", words).output)["results"] == []


def test_without_a_case_base_it_is_bad_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIAGNOSE_CASEBASE", str(tmp_path / "none.sqlite"))
    load.cache_clear()
    try:
        done = run("nan")
    finally:
        load.cache_clear()
    assert done.exit_code == 2
    assert "is missing" in done.output
