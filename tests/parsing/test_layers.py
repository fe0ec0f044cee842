"""The layers one by one: what each peels off, and what it leaves alone."""

from __future__ import annotations

import json
import pprint

import pytest
from parsing.knowledge import parse

from diagnose.parsing.lines import Peeled
from diagnose.parsing.tracebacks import exceptions
from diagnose.parsing.transports import (
    boxes,
    characters,
    documents,
    escaped,
    indentation,
    literals,
    markup,
    partial,
    prefixes,
    records,
    structured,
    tables,
    wrapping,
)

MESSAGE = (
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
    "cuda:1 and cpu! (when checking argument for argument mat2 in method wrapper_CUDA_mm)"
)


def peeled(text: str) -> list[Peeled]:
    return [Peeled(n, line) for n, line in enumerate(text.split("\n"), 1)]


def texts(lines: object) -> list[str]:
    assert not isinstance(lines, str)
    return [line.text for line in lines]  # type: ignore[attr-defined]


# --- characters -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "escape", ["\x1b", "\\x1b", "\\u001b", "\\\\u001b", "\\033", "^[", "\u241b"]
)
def test_colours_are_taken_off_however_the_escape_is_spelled(escape: str) -> None:
    assert characters.plain(f"{escape}[1;31mValueError{escape}[0m: x[0]") == "ValueError: x[0]"


def test_wide_blanks_are_blanks() -> None:
    assert characters.plain("\u2003\u00a0x\u3000y") == "  x y"


@pytest.mark.parametrize("codec", ["cp1252", "latin-1"])
def test_a_box_that_was_read_in_the_wrong_encoding(codec: str) -> None:
    seen = "".join(bytes([b]).decode(codec, errors="ignore") or chr(b) for b in "╭─ │ ❱ 5".encode())
    assert seen != "╭─ │ ❱ 5"
    assert characters.plain(seen) == "╭─ │ ❱ 5"
    assert characters.plain("thé \u00e2ge") == "thé \u00e2ge"


# --- strings ----------------------------------------------------------------------------------------


def test_adjacent_literals_are_one_string() -> None:
    shown = "{'error': 'Traceback (most recent call last):\\n'\n          '  File '\n          '\"a.py\", line 3\\n',\n 'n': 3}"
    assert texts(literals.join(peeled(shown))) == [
        "Traceback (most recent call last):",
        '  File "a.py", line 3',
        " 'n': 3}",
    ]


def test_listed_literals_are_lines() -> None:
    shown = "['Traceback (most recent call last):',\n '  File \"a.py\", line 3',\n 'KeyError: \\'x\\'']\nbye"
    assert texts(literals.join(peeled(shown))) == [
        "Traceback (most recent call last):",
        '  File "a.py", line 3',
        "KeyError: 'x'",
        "bye",
    ]


def test_literals_of_a_program_stay() -> None:
    code = "print('Traceback (most recent call last):')\nx = ['a',\n 'b']"
    assert texts(literals.join(peeled(code))) == code.split("\n")


def test_the_bytes_of_a_box_are_decoded() -> None:
    said = escaped.unescape(repr("a\n╭─ Traceback (most recent call last) ─╮\nb".encode()))
    assert said is not None
    assert "╭─ Traceback (most recent call last) ─╮" in said


def test_the_address_of_a_filled_form_is_decoded() -> None:
    assert escaped.unescape("body=a%0A%20%20File%20%22x.py%22%2C%20line%203") == [
        "body=a",
        '  File "x.py", line 3',
    ]


# --- documents and records ----------------------------------------------------------------------------


def test_a_document_among_lines_is_replaced_by_its_tracebacks() -> None:
    trace = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\nKeyError: 1'
    text = "step 1\nERROR {\n" + json.dumps({"job": {"trace": trace}}, indent=1)[2:] + "\nbye"
    lines = documents.splice(peeled(text))
    assert texts(lines) == ["step 1", *trace.split("\n"), "bye"]
    assert lines[-1].number == text.count("\n") + 1


def test_code_that_ends_in_a_brace_is_no_document() -> None:
    lines = peeled('    call({\n        "a": 1,\n    })\n{\n')
    assert documents.splice(lines) == lines


def test_a_record_behind_a_tag() -> None:
    line = '2026-02-03 04:05:06 +0000 kube.train: {"log": "  File \\"a.py\\", line 3, in f\\n", "rank": 2}'
    assert records.read(line) == (['  File "a.py", line 3, in f'], "rank2")
    assert records.read('    config = {"lr": {"x": 1}}') is None


def test_a_record_within_a_record() -> None:
    line = json.dumps({"severity": "ERROR", "jsonPayload": {"message": "a\n  b"}})
    assert records.read(line) == (["a", "  b"], None)


def frame(file: str, line: int, function: str) -> dict[str, object]:
    return {"filename": file, "lineno": line, "function": function}


def stored(kind: str, value: str, function: str, **more: object) -> dict[str, object]:
    return {
        "type": kind,
        "value": value,
        "stacktrace": {"frames": [frame("a.py", 3, function)]},
        **more,
    }


def test_sentrys_chain_is_oldest_first() -> None:
    event = {"exception": {"values": [stored("RuntimeError", MESSAGE[14:], "inner"),
                                      stored("ValueError", "epoch 3", "outer")]}}  # fmt: skip
    report = parse(json.dumps(event))
    assert report.error is not None and report.error.type == "RuntimeError"
    assert [f.function for f in report.frames] == ["outer", "inner"]


def test_sentrys_group_is_put_in_order() -> None:
    def mechanism(number: int, **more: object) -> dict[str, object]:
        return {"exception_id": number, **more}

    values = [
        stored("RuntimeError", MESSAGE[14:], "two", mechanism=mechanism(2, source="exceptions[1]")),
        stored("KeyError", "1", "one", mechanism=mechanism(1, source="exceptions[0]")),
        stored("ExceptionGroup", "jobs", "all", mechanism=mechanism(0, is_exception_group=True)),
    ]
    lines = structured.tracebacks({"values": values})
    assert [x for x in lines if x.startswith(("Exc", "Key", "Runt", "+"))] == [
        "ExceptionGroup: jobs", "+-+---------------- 1 ----------------", "KeyError: 1",
        "+-+---------------- 2 ----------------", MESSAGE,
    ]  # fmt: skip


@pytest.mark.parametrize("cause", [True, False])
def test_structlogs_chain_is_latest_first(cause: bool) -> None:
    chain = [
        {"exc_type": "ValueError", "exc_value": "b", "is_cause": False, "frames": [frame("a.py", 1, "f")]},
        {"exc_type": "KeyError", "exc_value": "a", "is_cause": cause, "frames": [frame("b.py", 2, "g")]},
    ]  # fmt: skip
    lines = structured.tracebacks({"exception": chain})
    assert [x for x in lines if x.startswith(("KeyError", "ValueError"))] == [
        "KeyError: a",
        "ValueError: b",
    ]
    assert any(x.startswith("The above exception" if cause else "During handling") for x in lines)


def test_frames_that_are_nobodys_stay_unread() -> None:
    assert structured.tracebacks([{"file": "a.py", "line": 3}, {"file": "b.py", "line": 4}]) == []


def test_records_of_a_document_are_read_as_one_log() -> None:
    lines = ["Traceback (most recent call last):", '  File "a.py", line 3, in f', "KeyError: 1"]
    events = {"events": [{"timestamp": n, "message": x} for n, x in enumerate(lines)]}
    assert structured.tracebacks(events) == lines


# --- boxes, columns, spacing ----------------------------------------------------------------------------


def test_a_box_in_ascii() -> None:
    box = ("+--- Traceback (most recent call last) ---+\n| /a/train.py:5 in main                   |\n"
           "|                                         |\n| \\u2771 5     step()                        |\n"
           "|   6                                     |\n+-----------------------------------------+\n| a | b |")  # fmt: skip
    said = texts(boxes.unbox(peeled(box)))
    assert said[1:4] == ["/a/train.py:5 in main", "", "❱ 5     step()"]
    assert said[-1] == "| a | b |", "a table is none of rich's boxes"


def test_the_panels_of_a_group_are_its_members() -> None:
    box = ("╭─────────── Sub-exception #2 ───────────╮\n│ ╭─ Traceback (most recent call last) ─╮ │\n"
           "│ │ /a.py:5 in main              │ │\n│ ╰──────────────────────────────╯ │\n"
           "│ KeyError: 1                      │\n╰──────────────────────────────────╯\nbye")  # fmt: skip
    said = [text for text in texts(boxes.unbox(peeled(box))) if text]
    assert said == ["+-+---------------- 2 ----------------", "Traceback (most recent call last)",
                    "/a.py:5 in main", "KeyError: 1", "bye"]  # fmt: skip


@pytest.mark.parametrize("pieces", [
    ("/opt/site-packages/a/hooks.py:2", "  in new_forward"), ("/opt/site-packages", "/a/hooks.py:2 in", "new_forward"),
    ("/opt/site-packages/a/hoo", "ks.py:2 in new_forward"), ("/opt/site-packages/a/hooks.py:", "2 in new_forward"),
])  # fmt: skip
def test_a_path_that_wrapped_in_a_box_is_whole(pieces: tuple[str, ...]) -> None:
    box = "".join(f"│ {piece:<34}│\n" for piece in pieces) + f"│ {'❱ 2 f()':<34}│"
    assert texts(boxes.unbox(peeled(box))) == [
        "/opt/site-packages/a/hooks.py:2 in new_forward",
        "❱ 2 f()",
    ]


@pytest.mark.parametrize("pieces", [
    ("    File", '  "/opt/site-packages/a/ho', '  oks.py", line 2, in f'), ('    File "/opt/site-packages/a/hooks.py", line 2, in', "  f"),
    ('  File "/opt/site-packages/a/hooks.py",', "line 2, in f"),
])  # fmt: skip
def test_a_frame_that_a_column_folded_is_whole(pieces: tuple[str, ...]) -> None:
    lines = texts(wrapping.unwrap(peeled("\n".join([*pieces, "      g()"]))))
    assert [line.strip() for line in lines] == [
        'File "/opt/site-packages/a/hooks.py", line 2, in f',
        "g()",
    ]


def test_double_spacing_is_taken_back_only_where_it_is_throughout() -> None:
    spaced = peeled("\n\n".join("abcdefghij"))
    assert texts(indentation.single_spaced(spaced)) == list("abcdefghij")
    assert indentation.single_spaced(spaced[:-1] + peeled("x\ny")) != list("abcdefghij")
    paragraph = peeled("a\n\nb\nc\n" * 8)
    assert indentation.single_spaced(paragraph) == paragraph


# --- prefixes, markup, exceptions -------------------------------------------------------------------------


def test_an_exception_behind_a_time_and_a_word_is_no_process() -> None:
    assert prefixes.peel_known("2026-02-03T04:05:06Z node7 train[12]: x") == ("x", "node7")
    text, channel = prefixes.peel_known("2026-02-03T04:05:06Z 01E RuntimeError: x")
    assert text.endswith("RuntimeError: x") and channel is None


def test_numbers_of_any_width_are_one_prefix() -> None:
    shown = "\n".join(f"{n:>4} {line}" for n, line in enumerate(
        ["Traceback (most recent call last):", '  File "a.py", line 3, in f', "    g()", "KeyError: 1"], 8))  # fmt: skip
    assert [line.text for line in prefixes.peel_learned(peeled(shown))][1:] == [
        '  File "a.py", line 3, in f', "    g()", "KeyError: 1",
    ]  # fmt: skip


def test_columns_of_a_table_stay_apart() -> None:
    assert markup.unhtml("<tr><td>12</td><td>x = 1</td></tr>") == ["12\tx = 1"]


def test_the_links_of_a_notebook_are_their_text() -> None:
    line = "[<ipython-input-9-b5>](https://localhost:8080/#) in <cell line: 7>()"
    assert texts(markup.unfence(peeled(line))) == ["<ipython-input-9-b5> in <cell line: 7>()"]


@pytest.mark.parametrize(
    "line", ["WARNING:root:step 4", "Training:  11%|#   | 1/9", "INFO: ready", "Epoch:3"]
)
def test_a_log_line_between_frames_is_no_exception(line: str) -> None:
    assert exceptions.match(line, after_frame=True) is None


def test_any_name_may_end_a_traceback() -> None:
    found = exceptions.match("pkg.Stop: now", after_frame=True)
    assert found is not None and (found.type, found.message) == ("pkg.Stop", "now")
    assert exceptions.match("pkg.Stop: now", after_frame=False) is None


def test_the_stack_of_a_logging_call_is_no_failure() -> None:
    stack = 'Stack (most recent call last):\n  File "/a/x.py", line 9, in <module>\n    log()\n'
    trace = (
        f'Traceback (most recent call last):\n  File "/a/x.py", line 3, in f\n    g()\n{MESSAGE}\n'
    )
    report = parse(trace + stack)
    assert [f.line for f in report.frames] == [3]
    assert report.mismatch is not None


def test_ranks_that_print_boxes_at_once_are_told_apart() -> None:
    box = ["╭── Traceback (most recent call last) ──╮", "│ /opt/site-packages/accelerate/hoo     │",
           "│ ks.py:2 in new_forward                │", "│ ❱ 2 │   f()                           │",
           "╰───────────────────────────────────────╯", MESSAGE]  # fmt: skip
    report = parse("".join(f"[rank{rank}]: {line}\n" for line in box for rank in (0, 1)))
    assert [(f.file, f.line) for f in report.frames] == [
        ("/opt/site-packages/accelerate/hooks.py", 2)
    ]
    assert report.ranks == (0, 1)


def test_a_member_of_a_nested_group_is_explained() -> None:
    text = ("  + Exception Group Traceback (most recent call last):\n  |   File \"/a/x.py\", line 1, in <module>\n"
            "  |     run()\n  | ExceptionGroup: outer (2 sub-exceptions)\n  +-+---------------- 1 ----------------\n"
            "    | ValueError: x\n    +---------------- 2 ----------------\n    | ExceptionGroup: inner (1 sub-exception)\n"
            "    +-+---------------- 1 ----------------\n      | Traceback (most recent call last):\n"
            f"      |   File \"/a/x.py\", line 7, in f\n      |     g()\n      | {MESSAGE}\n      +------------------------------------\n")  # fmt: skip
    report = parse(text)
    assert report.mismatch is not None
    assert [f.line for f in report.frames] == [7]


# --- what stands in the way ---------------------------------------------------------------------------

BOX = """\
╭───────── Traceback (most recent call last) ─────────╮
│ /home/user/proj/train.py:3 in main                  │
│                                                     │
│   2 def main():                                     │
│ ❱ 3 │   step()                                      │
╰─────────────────────────────────────────────────────╯
"""


def test_what_other_threads_print_into_a_box_stands_after_it() -> None:
    lines = BOX.splitlines()
    log = "\n".join([*lines[:2], "INFO step 3", *lines[2:], "KeyError: 'x'"])
    report = parse(log)
    assert [(f.line, f.function, f.code) for f in report.frames] == [(3, "main", "step()")]
    assert report.error is not None and report.error.type == "KeyError"


@pytest.mark.parametrize("codec", ["ascii", "latin-1"])
def test_a_box_of_question_marks(codec: str) -> None:
    report = parse(BOX.encode(codec, errors="replace").decode(codec) + "KeyError: 'x'\n")
    assert [(f.file, f.line, f.function) for f in report.frames] == [
        ("/home/user/proj/train.py", 3, "main")
    ]


def test_source_that_rich_wrapped_is_no_exception() -> None:
    inside = [
        "/home/user/proj/train.py:3 in main", "", "  2 def main():",
        '❱ 3     step(batch, note="a long literal, and then',
        '      RuntimeError: none of ours")', "  4     return", "",
    ]  # fmt: skip
    rows = "\n".join(f"│ {row:<52} │" for row in inside)
    top, bottom = BOX.splitlines()[0], BOX.splitlines()[-1]
    report = parse(f"{top}\n{rows}\n{bottom}\nKeyError: 'x'\n")
    assert report.error is not None and report.error.type == "KeyError"
    code = 'step(batch, note="a long literal, and then RuntimeError: none of ours")'
    assert [(f.line, f.function, f.code) for f in report.frames] == [(3, "main", code)]


def test_frames_in_a_box_without_a_file() -> None:
    lines = BOX.splitlines()
    shown = [
        *lines[:-1],
        f"│ {'in fused:4':<51} │",
        f"│ {'in launch:8':<51} │",
        lines[-1],
        "KeyError: 'x'",
    ]
    report = parse("\n".join(shown))
    assert [(f.file, f.line, f.function) for f in report.frames] == [
        ("/home/user/proj/train.py", 3, "main"), ("<unknown>", 4, "fused"), ("<unknown>", 8, "launch"),
    ]  # fmt: skip


PRETTY = """
/home/user/proj/train.py
9 <module>
"/home/user/proj/train.py", line 9
main()

/home/user/proj/train.py
5 main
"/home/user/proj/train.py", line 5
step()

KeyError:
x
"""


@pytest.mark.parametrize(
    "prefix", ["3: ", "gpu07: ", "[node-1] ", "{2} ", "w3> ", "> ", "node1/3| "]
)
def test_a_word_before_every_line(prefix: str) -> None:
    """pretty_errors prints nothing that shows where a prefix ends."""
    shown = "".join(f"{prefix}{line}\n" for line in PRETTY.splitlines())
    assert [(f.line, f.function) for f in parse(shown).frames] == [(9, "<module>"), (5, "main")]


def test_a_level_before_every_line_names_no_process() -> None:
    levels = [
        "INFO: step 1",
        "WARNING: slow",
        "INFO: step 2",
        "INFO: step 3",
        "ERROR: no",
        "INFO: x",
    ] * 3
    assert {line.channel for line in prefixes.peel_learned(peeled("\n".join(levels)))} == {None}


def test_blank_lines_of_windows_stay() -> None:
    report = parse(PRETTY.replace("\n", "\r\n"))
    assert [f.line for f in report.frames] == [9, 5]


def test_a_list_of_lines_that_pprint_folded() -> None:
    shown = pprint.pformat(
        [
            "Traceback (most recent call last):\n",
            '  File "/home/user/proj/train.py", line 9, in <module>\n    main()\n',
            f'  File "/home/user/{"long/" * 12}train.py", line 5, in main\n    step()\n',
            f"{MESSAGE}\n",
        ]
    )
    report = parse(shown)
    assert [(f.line, f.function) for f in report.frames] == [(9, "<module>"), (5, "main")]
    assert report.mismatch is not None and report.mismatch.argument == "mat2"


def test_printed_lines_beside_a_class_are_no_list_of_frames() -> None:
    trace = [
        "Traceback (most recent call last):",
        '  File "/home/user/train.py", line 9, in f',
        "KeyError: 'x'",
    ]
    report = parse(
        json.dumps({"exception": {"class": "KeyError", "message": "x", "stacktrace": trace}})
    )
    assert [(f.line, f.function) for f in report.frames] == [(9, "f")]


def test_records_within_the_records_of_a_document() -> None:
    frames = [{"filename": "/home/user/train.py", "lineno": 9, "name": "f"}]
    record = {
        "event": "failed",
        "exception": [{"exc_type": "KeyError", "exc_value": "x", "frames": frames}],
    }
    report = parse(
        json.dumps({"events": [{"timestamp": 1, "message": json.dumps(record)}] * 2}, indent=1)
    )
    assert [(f.line, f.function) for f in report.frames] == [(9, "f")]


def test_a_list_of_lines_in_a_document_in_dockers_log() -> None:
    trace = [
        "Traceback (most recent call last):",
        '  File "/home/user/train.py", line 9, in f',
        "KeyError: 'x'",
    ]
    shown = json.dumps({"job": 77, "lines": trace}, indent=1).splitlines(keepends=True)
    report = parse("".join(json.dumps({"log": line, "stream": "stderr"}) + "\n" for line in shown))
    assert [(f.line, f.function) for f in report.frames] == [(9, "f")]


def test_a_line_of_pytest_below_what_it_captured() -> None:
    report = parse(
        "=================================== FAILURES ===================================\n"
        "----------------------------- Captured stdout call -----------------------------\nstarting\n"
        "/home/user/train.py:75: KeyError: 'x'\n"
        "=========================== short test summary info ============================\n"
    )
    assert [(f.file, f.line) for f in report.frames] == [("/home/user/train.py", 75)]


def test_the_docs_mode_of_ipython() -> None:
    report = parse(
        "Traceback (most recent call last): Cell In[2], line 7\n\n->  go(1)\n\n"
        "    [... 11 skipped frames]\n\nKeyError: 'x'\n"
    )
    assert [(f.file, f.line, f.code) for f in report.frames] == [("Cell In[2]", 7, "go(1)")]


@pytest.mark.parametrize("reverse", [False, True])
def test_stackprinters_summary_is_no_second_stack(reverse: bool) -> None:
    stack = [
        ['File "/home/user/proj/train.py", line 9, in <module>', "--> 9    main()"],
        ['File "/home/user/proj/train.py", line 5, in main', "--> 5    step()"],
    ]
    if reverse:
        stack.reverse()
    whole = "\n\n".join("\n".join(one) for one in stack)
    short = "\n".join(f"{one[0]}\n    {one[1][9:]}" for one in stack)
    if reverse:
        shown = f"KeyError: 'x'\n\n{short}\n\n---- (full traceback below) ----\n\n{whole}\n"
    else:
        shown = f"{whole}\n\n---- (full traceback above) ----\n{short}\n\nKeyError: 'x'\n"
    report = parse(shown)
    assert [(f.line, f.function) for f in report.frames] == [(9, "<module>"), (5, "main")]


def test_where_pdb_stopped_and_what_it_listed() -> None:
    stop = "> /home/user/proj/train.py(5)main()\n-> step()\n"
    listed = "/home/user/proj/train.py(9)<module>()\n-> main()\n"
    alone = parse(f"KeyError: 'x'\n{stop}(Pdb) q\n")
    assert [(f.line, f.function) for f in alone.frames] == [(5, "main")]
    for asked in ("(Pdb)   ", "(Pdb) where\n  "):
        report = parse(f"KeyError: 'x'\n{stop}{asked}{listed}{stop}(Pdb) q\n")
        assert [(f.line, f.function) for f in report.frames] == [(9, "<module>"), (5, "main")]
    before = (
        'Traceback (most recent call last):\n  File "/home/user/proj/train.py", line 5, in main\n'
        "    step()\nKeyError: 'x'\nUncaught exception. Entering post mortem debugging\n"
    )
    report = parse(f"{before}{stop}(Pdb)   {listed}{stop}(Pdb) q\n")
    assert report.error is not None and report.error.type == "KeyError"
    assert [f.line for f in report.frames] == [5]


def test_an_error_of_aws_lambda() -> None:
    event = {
        "errorMessage": MESSAGE.removeprefix("RuntimeError: "), "errorType": "RuntimeError", "requestId": "f0",
        "stackTrace": ['  File "/var/task/app.py", line 6, in handler\n    step()\n'],
    }  # fmt: skip
    report = parse(json.dumps(event))
    assert report.mismatch is not None and report.mismatch.devices == ("cuda:1", "cpu")
    assert [(f.line, f.function) for f in report.frames] == [(6, "handler")]


def test_a_failure_in_junits_xml_begins_behind_its_tag() -> None:
    report = parse(
        '<testcase name="test_fit"><failure message="KeyError: &#x27;x&#x27;">self = &lt;Tests&gt;\n\n'
        "    def test_fit(self):\n&gt;       fit()\n\ntest_fit.py:20: \n_ _ _ _ _ _ _ _ _ _ _ _ _\n\n"
        "    def fit():\n&gt;       step()\nE       KeyError: 'x'\n\nfit.py:4: KeyError</failure></testcase>"
    )
    assert [(f.line, f.function) for f in report.frames] == [(20, "test_fit"), (4, "fit")]


def test_a_whole_frame_as_wide_as_the_terminal_is_not_joined_with_its_source() -> None:
    frame = '  File "/home/user/proj/a/long/folder/train.py", line 51, in forward'
    broken = f"RuntimeError: {'x' * (len(frame) - 14)}\ny"
    shown = [frame, "    step()", f"{frame[:-4]}bard", "    step()", *broken.split("\n")]
    assert texts(wrapping.unwrap(peeled("\n".join(shown))))[:4] == shown[:4]


def test_a_box_on_a_chinese_windows() -> None:
    report = parse((BOX + "KeyError: 'x'\n").encode("gbk", errors="replace"))
    assert [(f.line, f.function, f.code) for f in report.frames] == [(3, "main", "step()")]


def test_a_table_gives_the_column_of_its_log() -> None:
    rows = 'time,message,host\n1,"File ""a.py"", line 3",n7\n2,"KeyError: 3\n  more",n7\n'
    found = tables.read(rows)
    assert found is not None
    assert [(line.number, line.text) for line in found] == [
        (2, 'File "a.py", line 3'), (3, "KeyError: 3"), (4, "  more"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        'Traceback, message\n  File "a.py", line 3, in f\nKeyError: 3\n',
        'name,value\nTraceback,"Error"\n',
        "message,host\nfine,n7\n",
    ],
)
def test_what_is_no_table_of_a_log(text: str) -> None:
    assert tables.read(text) is None


def test_pieces_of_a_line_within_a_collectors_records() -> None:
    stamp = "2026-02-03T04:05:06.123456789Z stderr"
    pieces = [f"{stamp} P Key\r\n", f"{stamp} F Error: 'x'\r\n"]
    lines = [Peeled(n, json.dumps({"log": p, "stream": "stdout"})) for n, p in enumerate(pieces)]
    assert texts(partial.join(lines)) == [f"{stamp} P KeyError: 'x'"]


def test_dockers_record_without_a_line_feed_goes_on_in_the_next() -> None:
    parts = ['{"log":"Key","stream":"stderr"}', '{"log":"Error: 3\\n","stream":"stderr"}', "end"]
    joined = texts(partial.join(peeled("\n".join(parts))))
    assert [json.loads(joined[0])["log"], joined[1]] == ["KeyError: 3\n", "end"]


def test_ranks_that_print_into_each_other_without_a_name() -> None:
    one = [
        "Traceback (most recent call last):",
        '  File "/p/a.py", line 1, in main',
        "    f()",
        '  File "/p/b.py", line 2, in f',
        "    g()",
        "ValueError: no",
    ]
    for shift in range(1, 6):
        both = [*one[:shift]]
        for mine, other in zip([*one[shift:], *[None] * shift], one, strict=True):
            both += [other] if mine is None else [other, mine]
        report = parse("\n".join(both))
        assert [(f.line, f.function) for f in report.frames] == [(1, "main"), (2, "f")]


def test_tracebacks_of_different_errors_are_not_mixed() -> None:
    text = (
        'Traceback (most recent call last):\n  File "/p/a.py", line 1, in f\n    x\n'
        'Traceback (most recent call last):\n  File "/p/b.py", line 2, in g\n    y\n'
        "ValueError: no\nKeyError: 3\n"
    )
    report = parse(text)
    assert len(report.frames) < 2


def test_a_frame_quoted_in_a_value_is_none() -> None:
    report = parse(
        'Traceback (most recent call last):\n  File "/p/a.py", line 1, in f\n    x\n'
        "    note = 'File \"b.py\", line 3, in y'\nValueError: no\n"
    )
    assert [f.file for f in report.frames] == ["/p/a.py"]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("losses = [step(x) for x in y]", "<listcomp>"),
        ("total = sum(step(x) for x in y)", "<genexpr>"),
        ("return {k: step(v) for k, v in y}", "<dictcomp>"),
        ("call([1], (step(x) for x in y))", "<genexpr>"),
    ],
)
def test_comprehensions_of_pytest_are_named(source: str, name: str) -> None:
    report = parse(
        f".0 = <range_iterator object at 0x7f>\n\n>   {source}\nE   ValueError: no\n\na.py:4: ValueError\n"
    )
    assert report.frames[-1].function == name


def test_the_arrow_of_ipythons_themes() -> None:
    report = parse(
        "ValueError                                Traceback (most recent call last)\n"
        "File /p/a.py:7, in main()\n      6 def main():\n────▶ 7     step(3)\n\nValueError: no\n"
    )
    assert report.frames[-1].code == "step(3)"


def test_frames_kept_apart_from_their_exception() -> None:
    record = {
        "message": "failed",
        "error": {
            "type": "KeyError",
            "message": "'x'",
            "stack_trace": '  File "/p/a.py", line 3, in f\n    g()\n',
        },
    }
    report = parse(json.dumps(record))
    assert report.error is not None and report.error.type == "KeyError"
    assert [f.line for f in report.frames] == [3]


def test_a_path_before_the_name_of_no_file() -> None:
    frames = [{"filename": "<string>", "abs_path": "/p/<string>", "function": "f", "lineno": 2}]
    event = {"exception": {"values": [
        {"type": "KeyError", "value": "x", "stacktrace": {"frames": frames}}
    ]}}  # fmt: skip
    assert parse(json.dumps(event)).frames[0].file == "<string>"


def test_arguments_of_verbose_mode_over_several_lines() -> None:
    report = parse(
        "ValueError                                Traceback (most recent call last)\n"
        "/p/a.py in forward(self=Net(\n  (fc): Linear(in_features=1)\n), x=3)\n      6 def forward(self, x):\n"
        "----> 7     return self.fc(x)\n        self.fc = Linear(in_features=1)\n\nValueError: no\n"
    )
    assert [(f.line, f.function, f.code) for f in report.frames] == [
        (7, "forward", "return self.fc(x)")
    ]


def test_source_lines_are_no_numbered_log() -> None:
    """A frame in the user's own text does not make the numbers of source lines a prefix."""
    report = parse(
        "ValueError                                Traceback (most recent call last)\n"
        'File /p/a.py:9, in f()\n      6 x = """\n      7   File "no.py", line 3, in no\n      8 """\n'
        "----> 9 g(x)\n     10 y\n\nFile /p/b.py:3, in g(x)\n      2 def g(x):\n----> 3     raise x\n\n"
        "ValueError: no\n"
    )
    assert [(f.file, f.line, f.code) for f in report.frames] == [
        ("/p/a.py", 9, "g(x)"),
        ("/p/b.py", 3, "raise x"),
    ]


@pytest.mark.parametrize("around", ["", "It fails, as cat shows:\n\n"])
def test_the_ends_that_cat_shows_are_no_part_of_a_place(around: str) -> None:
    """One frame is enough: no name ends in a dollar sign."""
    text = f"""{around}Traceback (most recent call last):$
  File "/home/u/sampler.py", line 17, in anneal$
    cost = price[:, "$"] * schedule$
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!$
"""
    report = parse(text)
    [frame] = report.frames
    assert (frame.file, frame.line, frame.function) == ("/home/u/sampler.py", 17, "anneal")
    assert frame.code == 'cost = price[:, "$"] * schedule'
    assert report.error is not None and report.error.message.endswith("cpu!")
