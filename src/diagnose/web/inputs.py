"""From a request to the text to diagnose: the form's fields, a chosen file, or the API's three bodies.
Files and bodies may be compressed.

Nothing is written to disk, and what cannot be used is refused with a sentence for the person who sent it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import IO, Any, cast, get_args

from flask import Request
from werkzeug.datastructures import FileStorage

from diagnose.model import Lang
from diagnose.parsing.bytestream import read_fully
from diagnose.parsing.compression import CompressionError, decompressed, is_compressed
from diagnose.parsing.decoding import decode
from diagnose.web import uploads
from diagnose.web.refusals import InputError, size, too_large
from diagnose.web.uploads import Files

DEFAULT_TOP = 3
MAX_TOP = 10
_MAX_SOURCE = 200
_MOST_ANSWERS = 40
_SENDER_KEYS = ("host", "job", "ranks")
_MOST_RANKS = 1 << 20
_JSON_KEYS = ("text", "source", "top", "lang", "files")


@dataclass(frozen=True, slots=True)
class Submission:
    """What somebody wants diagnosed: the text, its name, how many causes, the language of the answer, the
    Python files that came along, and what was replied to questions of an earlier answer."""

    text: str
    source: str = "-"
    top: int = DEFAULT_TOP
    lang: Lang = "en"
    files: Files = field(default_factory=dict)
    answers: Mapping[str, int] = field(default_factory=dict)


class InMemoryRequest(Request):
    """A request whose uploads stay in memory: what people paste or send never touches the disk.

    Memory is bounded by MAX_CONTENT_LENGTH, which Werkzeug enforces while it reads.
    """

    def __init__(self, environ: dict[str, Any], *args: Any, **options: Any) -> None:
        # gunicorn vouches for the end of a body and keeps quiet about one that was cut short. Without its
        # word Werkzeug counts, and refuses half a log instead of answering it.
        if environ.get("CONTENT_LENGTH"):
            environ = {k: v for k, v in environ.items() if k != "wsgi.input_terminated"}
        super().__init__(environ, *args, **options)

    def _get_file_stream(
        self,
        total_content_length: int | None,
        content_type: str | None,
        filename: str | None = None,
        content_length: int | None = None,
    ) -> IO[bytes]:
        return BytesIO()


def from_form(request: Request, lang: Lang, max_bytes: int) -> Submission:
    """The paste page's form: a chosen file goes before pasted text, but a script beside that is a source;
    chosen sources go before those of the answer that the form stands below.

    Raises:
        InputError: nothing was pasted or chosen, it is too large, or the file can be read neither as
            text nor decompressed.
    """
    chosen, upload = request.files.getlist("files"), request.files.get("file")
    pasted = request.form.get("text", "").strip()
    if pasted and upload is not None and str(upload.filename).endswith(".py"):
        chosen, upload = [*chosen, upload], None
    files = uploads.from_uploads(chosen, max_bytes)
    files = files or uploads.from_kept(request.form.get("kept", ""), max_bytes)
    if upload is not None and upload.filename:
        text, name = _uploaded(upload, max_bytes), upload.filename
    else:
        text, name = request.form.get("text", ""), request.form.get("source", "")
        text = _checked(text, max_bytes)
    replies = [] if "forget" in request.form else request.form.getlist("answer")
    return Submission(text, _name(name), lang=lang, files=files, answers=_answers(replies))


def _answers(replies: list[str]) -> dict[str, int]:
    """``question=2`` as the pages write it; anything else is left out, and what there is no question for
    changes nothing."""
    pairs = (reply.rpartition("=") for reply in replies[:_MOST_ANSWERS])
    return {
        question[:_MAX_SOURCE]: int(number)
        for question, _, number in pairs
        if question and number.isascii() and number.isdecimal() and len(number) < 3
    }


def from_api(request: Request, max_bytes: int) -> Submission:
    """The API's body: text/plain, application/json or multipart/form-data.

    ``source``, ``top``, ``lang`` and ``files`` come with the JSON object, as fields of the multipart form,
    or in the query for plain text (``top`` and ``lang`` only: a name may be private, a query is logged).

    Raises:
        InputError: another content type (415), too large (413), or unusable (400).
    """
    kind = request.mimetype
    if kind == "text/plain":
        text = _checked(_decoded(request.get_data(cache=False), max_bytes), max_bytes)
        return _submission(text, {**request.args.to_dict(), "source": None})
    if kind == "application/json":
        return _from_object(json_object(request), max_bytes)
    if kind == "multipart/form-data":
        fields: dict[str, Any] = request.form.to_dict()
        files = uploads.from_uploads(request.files.getlist("files"), max_bytes)
        upload = request.files.get("file")
        if upload is not None:
            text = _uploaded(upload, max_bytes)
            return _submission(text, {"source": upload.filename or None, **fields}, files)
        return _submission(_checked(fields.get("text", ""), max_bytes), fields, files)
    raise InputError(415, "error-content-type")


def json_object(request: Request, known: tuple[str, ...] = _JSON_KEYS) -> dict[str, Any]:
    """The body as an object with no key but the ``known`` ones.

    Raises:
        InputError: it is anything else.
    """
    try:
        values = json.loads(request.get_data(cache=False))
    except RecursionError:
        raise InputError(400, "error-json", reason="nested too deeply") from None
    except ValueError as error:
        raise InputError(400, "error-json", reason=str(error)) from None
    if not isinstance(values, dict):
        raise InputError(400, "error-json-object")
    for key in values:
        if key not in known:
            raise InputError(400, "error-json-key", key=key[:40], known=", ".join(known))
    return values


def _from_object(values: dict[str, Any], max_bytes: int) -> Submission:
    if not isinstance(values.get("text"), str):
        raise InputError(400, "error-json-text")
    files = uploads.from_json(values.get("files"), max_bytes)
    return _submission(_checked(values["text"], max_bytes), values, files)


def report_from_api(request: Request, max_bytes: int) -> tuple[Submission, dict[str, Any]]:
    """The body of a report: what `from_api` takes as JSON, and who sends it: ``host``, ``job``, ``ranks``.

    Raises:
        InputError: as `from_api`, or these are no texts and no list of numbers.
    """
    if request.mimetype != "application/json":
        raise InputError(415, "error-report-type")
    values = json_object(request, (*_JSON_KEYS, *_SENDER_KEYS))
    submission = _from_object(values, max_bytes)
    ranks = values.get("ranks") or []
    if not isinstance(ranks, list) or len(ranks) > _MOST_RANKS:
        raise InputError(400, "error-sender")
    if not all(type(rank) is int and 0 <= rank < _MOST_RANKS for rank in ranks):
        raise InputError(400, "error-sender")
    names = {key: values.get(key) for key in ("host", "job")}
    if not all(name is None or isinstance(name, str) for name in names.values()):
        raise InputError(400, "error-sender")
    return submission, {
        **{key: _name(name) if name else None for key, name in names.items()},
        "ranks": ranks,
    }


def _submission(text: str, values: dict[str, Any], files: Files | None = None) -> Submission:
    """Checks what stands beside the text; a missing or null value takes its default."""
    source, top, lang = (values.get(key) for key in ("source", "top", "lang"))
    if source is not None and not isinstance(source, str):
        raise InputError(400, "error-source")
    if isinstance(top, str) and top.isascii() and top.isdecimal() and len(top) < 4:
        top = int(top)  # a form or a query has only strings
    if top is None:
        top = DEFAULT_TOP
    if type(top) is not int or not 1 <= top <= MAX_TOP:
        raise InputError(400, "error-top", most=MAX_TOP)
    if lang is None:
        lang = "en"
    if lang not in get_args(Lang):
        raise InputError(400, "error-lang", known=", ".join(get_args(Lang)))
    return Submission(text, _name(source or ""), top, cast(Lang, lang), files or {})


def _uploaded(upload: FileStorage, max_bytes: int) -> str:
    return _checked(_decoded(upload.stream.read(), max_bytes), max_bytes)


def _decoded(data: bytes, max_bytes: int) -> str:
    if len(data) > max_bytes:
        raise too_large(max_bytes)
    if is_compressed(data):
        data = _unpacked(data, max_bytes)
    text = decode(data)
    if data and not text:
        raise InputError(400, "error-binary")
    return text


def _unpacked(packed: bytes, max_bytes: int) -> bytes:
    """What was compressed; not a byte more than one over the limit is ever decompressed."""
    try:
        data = read_fully(decompressed(BytesIO(packed)), max_bytes + 1)
    except CompressionError as error:
        raise InputError(400, "error-compressed", reason=str(error)) from None
    if len(data) > max_bytes:
        raise InputError(413, "error-too-large-unpacked", limit=size(max_bytes))
    return data


def _checked(text: str, max_bytes: int) -> str:
    """The text with line feeds only and without lone surrogates, neither empty nor too large."""
    text = text.replace("\r\n", "\n")  # a browser sends every line end of a form as CR LF
    data = text.encode("utf-8", errors="replace")
    if len(data) > max_bytes:
        raise too_large(max_bytes)
    text = data.decode("utf-8")
    if not text.strip():
        raise InputError(400, "error-empty")
    return text


def _name(filename: str) -> str:
    """A file's name as it stands in the answer: one printable line of bounded length; ``-`` if none."""
    name = filename.encode("utf-8", errors="replace").decode("utf-8")
    name = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in name)
    return name.strip()[:_MAX_SOURCE] or "-"
