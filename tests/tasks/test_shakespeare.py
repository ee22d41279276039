"""Theorems about the book: every edition gives one text, damage is named, what was there stays whole.

None of them reaches the network: the server is in this file. Those on the real book need a copy of it, whose file
SHAKESPEARE_TXT names.
"""

import gzip
import hashlib
import os
import re
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, pairwise, zip_longest
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from theorems import drawn

from transformer_lessons.basis import atomic
from transformer_lessons.language.tokenization import tokenize
from transformer_lessons.tasks import mock_play, shakespeare
from transformer_lessons.tasks.shakespeare import clean, load, split

REAL = os.environ.get("SHAKESPEARE_TXT", "")
WRITE = mock_play.write


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """An empty cache, no network, and a book and a play that are small."""
    monkeypatch.delenv("SHAKESPEARE_TXT", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(shakespeare, "URL", "http://127.0.0.1:9/nobody-answers")
    monkeypatch.setattr(shakespeare, "SHORTEST", 20_000)
    monkeypatch.setattr(mock_play, "write", lambda scenes, seed: WRITE(2, seed))


# --- a book of 44 invented works, in any edition ------------------------------------------------------------

PLAYS = [f"THE TRAGEDY OF KING {chr(65 + number % 26)}{number} THE BOLD" for number in range(38)]
POEMS = ["THE LAY OF THE LAMP", "A RIVER’S PLAINT", "THE WILLOW AND THE WOLF", "THE BELL", "HERO AND HARP"]
TITLES = ["THE RHYMES", *PLAYS, *POEMS]
SCENES = mock_play.write(40, seed=1)[0].split("[Exeunt.]\n\n")
VERSES = "The moon is old,\n  And so is she, at 1609 years of age.\n"


MARKER = "*** START OF THE PROJECT GUTENBERG EBOOK THE WORKS OF WILLIAM SHAKESPEARE ***"


def book(start=MARKER, bom="", newline="\n", gap="\n", heading=str, mark="", margin="", extra="\n"):
    """The raw book; what else it holds besides the works differs from edition to edition."""
    parts = [f"{bom}The Project Gutenberg eBook of The Works\n\nTitle: Works\n\n{start}\nThe Works\n{extra}"]
    parts += ["\n                  Contents\n\n", *(f"    {title}\n{gap}" for title in TITLES), "\n\n\n"]
    for number, title in enumerate(TITLES):
        if title in PLAYS:
            parts += [f"{extra}{heading(title)}\n\n{extra}Contents\n\nACT I\nScene I. A hall.{extra}\n\n"]
            parts += [f" Dramatis Personæ\n\nA KING.\n{extra}\nTWO LORDS.\n\n{SCENES[number]}"]
            parts += [f"{mark}Exeunt{mark}.\n{extra}\n"]
        else:
            parts += [f"{extra}{title}\n\n{extra}     1\n\n{VERSES}The wolf is wise,{margin}\nAnd sings.\n\n"]
    parts += ["THE END\n\n\n*** END OF THE PROJECT GUTENBERG EBOOK THE WORKS ***\n\nThe licence of it\n"]
    return "".join(parts).replace("\n", newline)


RAW = book()
TEXT = clean(RAW)
EDITIONS = {
    "as it is": {},
    "with a byte-order mark": {"bom": "\ufeff"},
    "with Windows' line ends": {"newline": "\r\n"},
    "with old Macs' line ends": {"newline": "\r"},
    "THIS instead of THE": {"start": "*** START OF THIS PROJECT GUTENBERG EBOOK WORKS OF SHAKESPEARE ***"},
    "no space in the marker": {"start": "***START OF THE PROJECT GUTENBERG EBOOK WORKS OF SHAKESPEARE***"},
    "marker over two lines": {"start": MARKER.replace(" WILLIAM ", "\n")},
    "close contents": {"gap": ""},
    "contents far apart": {"gap": "\n\n"},
    "italics": {"mark": "_"},
    "numbers in the margin": {"margin": "         1604"},
    "a number after one space": {"margin": " 8"},
    "more empty lines": {"extra": "\n\n\n"},
    "spaces on empty lines": {"extra": "   \n"},
}


def write(tmp_path, raw, name="pg100.txt"):
    path = tmp_path / name
    path.write_bytes(raw if isinstance(raw, bytes) else raw.encode())
    return path


@pytest.mark.parametrize("edition", EDITIONS.values(), ids=EDITIONS)
def test_every_edition_gives_the_same_text_and_the_same_works(edition, tmp_path):
    corpus = load(write(tmp_path, book(**edition)))
    assert corpus.text == TEXT
    assert [title for title, _, _ in corpus.works] == TITLES
    assert corpus.source == "complete works"


@pytest.mark.parametrize(
    "heading",
    [
        lambda title: title.replace("THE TRAGEDY OF ", ""),  # shorter than in the contents
        lambda title: "THE LIFE AND DEATH OF " + title,  # longer
        lambda title: title.replace("THE BOLD", "I"),  # other words
    ],
    ids=["shorter", "longer", "other"],
)
def test_a_play_is_found_though_its_heading_differs_from_the_contents(heading, tmp_path):
    corpus = load(write(tmp_path, book(heading=heading)))
    assert [title for title, _, _ in corpus.works] == TITLES
    for title, start, end in corpus.works:
        expected = heading(title) if title in PLAYS else title
        assert corpus.text[start:end].startswith(expected + "\n\n")


def test_the_works_are_the_whole_text_one_after_the_other(tmp_path):
    works = load(write(tmp_path, RAW)).works
    assert works[0][1] == 0
    assert works[-1][2] == len(TEXT)
    assert all(end == start for (_, _, end), (_, start, _) in pairwise(works))


def test_cleaning_leaves_the_works_alone_and_nothing_else():
    text = clean(book(mark="_", extra=" \n", bom="\ufeff", newline="\r\n"))
    for absent in ["Gutenberg", "Contents", "Scene I. A hall", "_", "\r", "\t", "\ufeff", "\n\n\n", " \n"]:
        assert absent not in text
    for number, present in enumerate([*SCENES[1:39], VERSES]):
        assert present.strip() in TEXT, number
    assert TEXT.startswith("THE RHYMES\n\n     1\n\nThe moon is old")
    assert TEXT.endswith("And sings.\n\nTHE END\n")
    assert TEXT.count("Dramatis Personæ") == 38


MARKERS = ["*** START OF THE PROJECT GUTENBERG EBOOK X ***", "*** END OF THIS PROJECT GUTENBERG EBOOK"]
SPACES = [" ", "\t", "\n", "\n\n\n", "\r\n", "\r", "\x0b", "\u2028", "\xa0", "\ufeff"]
SCRAPS = [*MARKERS, *SPACES, "Contents", "Dramatis Personæ", "_", "  12", " 7", "A"]


@drawn
@given(st.lists(st.sampled_from(SCRAPS), max_size=12).map("".join) | st.text())
def test_cleaning_twice_is_cleaning_once(raw):
    assert clean(clean(raw)) == clean(raw)


@pytest.mark.parametrize(
    "raw",
    [
        "_".join("*** START OF THE PROJECT GUTENBERG EBOOK X ***\nA"),
        "A\n\n*** END OF THE PROJECT GUTENBERG EBOOK\n *** START OF THE PROJECT GUTENBERG EBOOK X ***",
        " \ufeff \ufeff Contents\n\nA 12\x0b",
        "\t*** \tEND OF THE PROJECT GUTENBERG EBOOK",
    ],
)
def test_cleaning_uncovers_nothing_to_clean(raw):
    assert clean(clean(raw)) == clean(raw)


def test_a_byte_order_mark_goes_wherever_it_stands():
    assert clean("\ufeffA\ufeff\nB") == "A\nB\n"


def test_cleaning_a_clean_book_changes_nothing():
    assert clean(TEXT) == TEXT


# --- damaged files ------------------------------------------------------------------------------------------

BYTES = RAW.encode()
END = BYTES.index(b"*** END OF")
PAGE = b"<html><head><title>Project Gutenberg</title></head>" + b"<p>503</p>" * 500
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 5638516\n"


def flip(place):
    return BYTES[:place] + bytes([BYTES[place] ^ 0x80]) + BYTES[place + 1 :]


CUT = r"is cut off: it lacks '\*\*\* END OF|is not a text in UTF-8"
WRONG = r"is not a text in UTF-8: byte [\d,]+ is wrong$"
SWAPPED = BYTES.replace(b"** START", b"** X").replace(b"** END", b"** START").replace(b"** X", b"** END")
DAMAGED = {
    **{f"cut to {share} %": (BYTES[: END * share // 100], CUT) for share in range(5, 101, 5)},
    **{f"bit flipped at {share} %": (flip(len(BYTES) * share // 100), WRONG) for share in range(0, 100, 10)},
    "cut within a character": (BYTES[: BYTES.index("æ".encode()) + 1], WRONG),
    "front missing": (BYTES[BYTES.index(b"Contents") :], "is damaged or too old: it lacks"),
    "only the licence": (BYTES[END:] * 20, "is damaged or too old: it lacks"),
    "only the header": (BYTES[: BYTES.index(b"Contents")], CUT),
    "a hole of ten works": (BYTES[: END // 3] + BYTES[END // 2 :], r"is damaged: \d+ of 44 works were found"),
    "two works too few": (RAW.replace(f"    {PLAYS[3]}\n", ""), "is damaged: 1 of 44 works"),
    "start marker hurt": (BYTES.replace(b"*** START", b"*** STAXT"), "is damaged or too old"),
    "end marker hurt": (BYTES.replace(b"*** END", b"*** EXD"), "is cut off"),
    "markers exchanged": (SWAPPED, "is another book: THE WORKS"),
    "a page of zeros in it": (BYTES[:20_000] + bytes(4096) + BYTES[24_096:], r"character [\d,]+ is '\\x00'"),
    "all zeros": (bytes(100_000), r"is not a plain text: character 0 is '\\x00'"),
    "a control character": (BYTES.replace(b"moon", b"m\x1bon", 1), r"is '\\x1b'"),
    "empty": (b"", "is empty$"),
    "a web page": (PAGE, "is a web page, not a plain text$"),
    "a web page with a mark": (b"\xef\xbb\xbf\r\n<!DOCTYPE html>" + BYTES, "is a web page"),
    "XHTML": (b'<?xml version="1.0"?>' + PAGE, "is a web page"),
    "a pointer": (POINTER, "is a Git LFS pointer, not the file: run git lfs pull$"),
    "gzip": (gzip.compress(BYTES), "is compressed: unpack it first$"),
    "zip": (b"PK\x03\x04" + BYTES, "is compressed: unpack it first$"),
    "UTF-16": (RAW.encode("utf-16"), "is not a text in UTF-8: byte 0 is wrong$"),
    "UTF-16 without mark": (b"a\0b\0c\0" * 500, "is not a plain text: character 1 "),
    "Latin-1": (RAW.replace("’", "'").encode("latin-1"), "is not a text in UTF-8"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9, "is not a text in UTF-8: byte 0 is wrong$"),
    "another book": (RAW.replace("THE WORKS OF WILLIAM SHAKESPEARE", "EMMA"), "is another book: EMMA$"),
    "a short note": (b"To be done.\n", "is too short: it has 12 characters, and needs at least 1000$"),
}


@pytest.mark.parametrize(("data", "sentence"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_refused_in_one_sentence(data, sentence, tmp_path):
    path = write(tmp_path, data)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=sentence) as refusal:
        load(path)
    assert str(refusal.value).startswith(f"{path} ")
    assert "\n" not in str(refusal.value)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_no_cut_of_the_book_passes_for_all_of_it(tmp_path):
    for size in range(0, END, END // 97):
        with pytest.raises(ValueError, match=r"cut off|too short|empty|UTF-8"):
            load(write(tmp_path, BYTES[:size]))


def test_a_book_without_the_licence_behind_its_end_is_whole(tmp_path):
    assert load(write(tmp_path, BYTES[: BYTES.index(b"\n", END)])).text == TEXT


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"nowhere\.txt cannot be read: No such file or directory$"):
        load(tmp_path / "nowhere.txt")
    with pytest.raises(ValueError, match=r"cannot be read: "):
        load(tmp_path)


# --- other texts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", ["", "\ufeff"])
def test_any_other_text_is_a_corpus_as_it_is(before, tmp_path):
    text = "Naïve_  verse  7\n\n\n\n\tContents \n" * 50
    data = (before + text).encode()
    corpus = load(write(tmp_path, data, "my verse.txt"))
    assert corpus.text == text
    assert corpus.works == (("my verse", 0, len(text)),)
    assert corpus.source == "my verse.txt"
    assert corpus.sha256 == hashlib.sha256(data).hexdigest()


def test_windows_line_ends_become_plain_ones(tmp_path):
    assert load(write(tmp_path, "A line,\r\nand one.\r\n" * 100)).text == "A line,\nand one.\n" * 100


def test_the_variable_names_the_file_and_a_path_goes_before_it(monkeypatch, tmp_path):
    monkeypatch.setenv("SHAKESPEARE_TXT", str(write(tmp_path, "one\n" * 500, "one.txt")))
    assert load().source == "one.txt"
    assert load(write(tmp_path, "two\n" * 500, "two.txt")).source == "two.txt"
    assert load(str(tmp_path / "two.txt")).source == "two.txt"
    monkeypatch.setenv("SHAKESPEARE_TXT", str(tmp_path / "gone.txt"))
    with pytest.raises(ValueError, match=r"gone\.txt cannot be read"):
        load()
    monkeypatch.setenv("SHAKESPEARE_TXT", "")
    assert load(download=False).source == "invented play"


def test_a_tilde_is_the_user_s_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    write(tmp_path, "one\n" * 500, "one.txt")
    assert load("~/one.txt").source == "one.txt"


def test_a_corpus_cannot_be_changed(tmp_path):
    corpus = load(write(tmp_path, RAW))
    with pytest.raises(AttributeError):
        corpus.text = ""


# --- the download, from a server of ours --------------------------------------------------------------------


class Server(BaseHTTPRequestHandler):
    """Answers each request by the next of its plans, and by the last one from then on."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.ranges.append(self.headers["Range"])
        plans = self.server.plans
        plan = plans.pop(0) if len(plans) > 1 else plans[0]
        plan(self)

    def log_message(self, *words):
        pass


def send(handler, data, upto=None, resume=False, status=200):
    """The data, or its part that was asked for; only so many bytes of it are really sent."""
    start = int(re.fullmatch(r"bytes=(\d+)-", handler.headers["Range"])[1]) if resume else 0
    handler.send_response(206 if resume else status)
    if resume:
        handler.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
    handler.send_header("Content-Length", str(len(data) - start))
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.wfile.write(data[start:upto])
    handler.close_connection = True


def sends(data=BYTES, **settings):
    return lambda handler: send(handler, data, **settings)


def sleeps(handler):
    send(handler, BYTES, upto=20_000)
    handler.wfile.flush()
    time.sleep(1.2)


@pytest.fixture
def serve(monkeypatch):
    """Start the server with these plans."""
    servers = []

    def start(*plans):
        if sleeps in plans:  # otherwise the usual patience, for a busy machine is slow
            monkeypatch.setattr(shakespeare, "SILENCE", 0.4)
        server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
        server.daemon_threads = True
        server.plans, server.ranges = list(plans), []
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setattr(shakespeare, "URL", f"http://127.0.0.1:{server.server_port}/pg100.txt")
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def kept(tmp_path):
    return {path.name: path.read_bytes() for path in (tmp_path / "cache/transformer-lessons").glob("*")}


def whole(data=BYTES):
    return {"pg100.txt": data, "pg100.sha256": hashlib.sha256(data).hexdigest().encode() + b"\n"}


def test_the_book_is_downloaded_once_and_kept_with_its_hash(serve, tmp_path, capsys):
    server = serve(sends())
    first, second = load(), load()
    assert first == second
    assert first.text == TEXT
    assert first.sha256 == hashlib.sha256(BYTES).hexdigest()
    assert len(server.ranges) == 1
    assert kept(tmp_path) == whole()
    assert f"Downloading the complete works: {len(BYTES) / 1e6:.1f} MB" in capsys.readouterr().err


def test_without_leave_to_download_nothing_is_asked(monkeypatch):
    monkeypatch.setattr(urllib.request, "urlopen", None)
    assert load(download=False).source == "invented play"


@pytest.mark.parametrize(
    ("plans", "ranges"),
    [
        ([sends(upto=20_000), sends(resume=True)], ["bytes=0-", "bytes=20000-"]),
        (
            [sends(upto=20_000), sends(upto=30_000, resume=True), sends(resume=True)],
            ["bytes=0-", "bytes=20000-", "bytes=30000-"],
        ),
        ([sends(upto=20_000), sends()], ["bytes=0-", "bytes=20000-"]),  # the server does not resume
        ([sends(b"busy", status=503), sends()], ["bytes=0-", "bytes=0-"]),
        ([sleeps, sends(resume=True)], ["bytes=0-", "bytes=20000-"]),
        ([sends(upto=0), sends(resume=True)], ["bytes=0-", "bytes=0-"]),
    ],
    ids=["resumed", "resumed twice", "begun again", "busy", "slow", "nothing at first"],
)
def test_what_breaks_off_is_asked_for_again(plans, ranges, serve, tmp_path):
    server = serve(*plans)
    assert load().text == TEXT
    assert server.ranges == ranges
    assert kept(tmp_path) == whole()


BAD_ANSWERS = {
    "cut off every time": ([sends(upto=20_000)], "broke off after 20,000 of"),
    "silent": ([sleeps], "timed out"),
    "a web page": ([sends(PAGE)], "is a web page, not a plain text."),
    "a pointer": ([sends(POINTER)], "is a Git LFS pointer"),
    "empty": ([sends(b"")], "is empty."),
    "not found": ([sends(b"gone", status=404)], "HTTP Error 404: Not Found."),
    "broken server": ([sends(b"oh", status=500)], "HTTP Error 500: Internal Server Error."),
    "cut off, and said to be whole": ([sends(BYTES[:30_000])], "is cut off: it lacks '*** END"),
    "another book": ([sends(RAW.replace("SHAKESPEARE", "NOBODY").encode())], "is another book"),
    "another text": ([sends(b"To be done.\n" * 500)], "is damaged or too old"),
    "gzip": ([sends(gzip.compress(BYTES))], "is compressed"),
    "no HTTP": ([lambda handler: handler.wfile.write(b"SSH-2.0\r\n")], "SSH-2.0"),
}


@pytest.mark.parametrize("before", [None, b"an old copy, damaged"], ids=["cache empty", "cache damaged"])
@pytest.mark.parametrize(("plans", "sentence"), BAD_ANSWERS.values(), ids=BAD_ANSWERS)
def test_a_bad_answer_ends_in_a_sentence_and_the_invented_play_and_leaves_the_cache(
    plans, sentence, before, serve, tmp_path, capsys
):
    serve(*plans)
    if before:
        shakespeare.cache().parent.mkdir(parents=True)
        shakespeare.cache().write_bytes(before)
    assert load().source == "invented play"
    assert kept(tmp_path) == ({"pg100.txt": before} if before else {})
    lines = capsys.readouterr().err.replace("\r", "\n").splitlines()
    said = [line for line in lines if line and not line.startswith("Downloading")]
    assert len(said) == (4 if before else 3)
    assert said[-3].startswith("The download failed: ")
    assert sentence in said[-3]


def test_the_invented_play_says_in_two_lines_what_it_is_and_how_to_get_the_book(capsys, monkeypatch):
    monkeypatch.setattr(mock_play, "write", lambda scenes, seed: (f"{scenes} scenes of seed {seed}", -1.0))
    corpus = load(download=False)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "invented play" in lines[0]
    assert shakespeare.URL in lines[1]
    assert "SHAKESPEARE_TXT" in lines[1]
    assert corpus.works == (("The invented play", 0, len(corpus.text)),)
    assert corpus.text == "1000 scenes of seed 0"
    assert (corpus.source, corpus.sha256) == ("invented play", None)


@pytest.mark.parametrize(("status", "times"), [(403, 1), (404, 1), (500, 3), (503, 3)])
def test_what_is_not_there_is_asked_for_once_and_a_busy_server_three_times(status, times, serve):
    server = serve(sends(b"no", status=status))
    assert load().source == "invented play"
    assert len(server.ranges) == times


def test_an_answer_without_end_is_given_up(serve, monkeypatch, capsys):
    monkeypatch.setattr(shakespeare, "LARGEST", 10_000)
    serve(sends())
    assert load().source == "invented play"
    assert "sends more than 10,000 bytes" in capsys.readouterr().err


def test_a_download_that_drips_is_given_up(serve, monkeypatch, capsys):
    monkeypatch.setattr(shakespeare, "LONGEST", -1)
    serve(sends())
    assert load().source == "invented play"
    assert "or takes -1 seconds" in capsys.readouterr().err


# --- the cache ----------------------------------------------------------------------------------------------


def test_a_copy_that_changed_since_is_downloaded_again(serve, tmp_path, capsys):
    serve(sends())
    load()
    changed = BYTES.replace(b"moon", b"noon", 1)  # a letter, which only the hash can tell
    shakespeare.cache().write_bytes(changed)
    capsys.readouterr()
    assert load().text == TEXT
    assert kept(tmp_path) == whole()
    assert "has changed since it was downloaded, so it is not used." in capsys.readouterr().err


def test_a_copy_put_there_by_hand_is_used(tmp_path):
    shakespeare.cache().parent.mkdir(parents=True)
    shakespeare.cache().write_bytes(BYTES)
    assert load(download=False).text == TEXT
    assert kept(tmp_path) == {"pg100.txt": BYTES}


DISK = {28: "No space left on device", 13: "Permission denied", 30: "Read-only file system"}


@pytest.mark.parametrize("error", [OSError(*each) for each in DISK.items()], ids=DISK.values())
@pytest.mark.parametrize("step", ["mkdir", "fsync", "replace"])
def test_where_the_book_cannot_be_kept_it_is_used_all_the_same(step, error, serve, monkeypatch, tmp_path, capsys):
    def fail(*arguments, **settings):
        raise error

    serve(sends())
    shakespeare.cache().parent.mkdir(parents=True)
    shakespeare.cache().write_bytes(b"an old copy, damaged")
    monkeypatch.setattr(Path if step == "mkdir" else os, step, fail)
    assert load().text == TEXT
    assert kept(tmp_path) == {"pg100.txt": b"an old copy, damaged"}
    said = [line for line in capsys.readouterr().err.splitlines() if "kept in" in line]
    assert len(said) == 1
    assert said[0].endswith(f": {error.strerror}.")


def test_a_cache_that_is_a_file_is_not_touched(serve, tmp_path, capsys):
    serve(sends())
    (tmp_path / "cache").write_text("mine")
    assert load().text == TEXT
    assert (tmp_path / "cache").read_text() == "mine"
    assert "could not be kept" in capsys.readouterr().err


def test_who_is_stopped_while_downloading_leaves_nothing_behind(serve, tmp_path, monkeypatch):
    def stop(file):
        raise KeyboardInterrupt

    serve(sends())
    monkeypatch.setattr(os, "fsync", stop)
    with pytest.raises(KeyboardInterrupt):
        load()
    assert kept(tmp_path) == {}


def test_who_is_stopped_between_book_and_hash_finds_a_book_to_use(serve, tmp_path, monkeypatch):
    write = atomic.write

    def stop(path, data):
        if path.suffix == ".sha256":
            raise KeyboardInterrupt
        write(path, data)

    serve(sends())
    shakespeare.cache().parent.mkdir(parents=True)
    shakespeare.cache().with_suffix(".sha256").write_text("the hash of an older book")
    monkeypatch.setattr(atomic, "write", stop)
    with pytest.raises(KeyboardInterrupt):
        load()
    assert kept(tmp_path) == {"pg100.txt": BYTES}
    assert load(download=False).text == TEXT


def test_two_at_once_keep_one_whole_copy(serve, tmp_path):
    serve(sends())
    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kept(tmp_path) == whole()


# --- training and validation --------------------------------------------------------------------------------

PLAY = mock_play.write(300, seed=3)[0]
PARTS = st.sampled_from(["word", " ", "\n", "\n\n", "\n\n\n", "X.\n"])
ANY_TEXT = st.lists(PARTS, min_size=60, max_size=300).map("".join)


def joined(train, validation):
    return "".join(piece for piece in chain(*zip_longest(train, validation, fillvalue="")))


@drawn
@given(ANY_TEXT, st.integers(1, 4), st.floats(0.01, 0.9))
def test_the_pieces_in_turn_are_the_text(text, blocks, fraction):
    text = text + "\n\n" * 9 + "."  # so that there are lines enough
    train, validation = split(text, fraction, blocks)
    assert joined(train, validation) == text
    assert len(validation) == blocks == len(train) - 1
    assert all(validation)
    assert train[-1]


@pytest.mark.parametrize("blocks", [None, 1, 2, 7, 40])
def test_validation_is_about_the_fraction_and_stands_in_every_part_of_the_text(blocks):
    train, validation = split(PLAY, 0.05, blocks)
    blocks = blocks or len(PLAY) // 50_000
    assert joined(train, validation) == PLAY
    assert len(validation) == blocks
    section = len(PLAY) / blocks
    ends = [sum(map(len, train[: n + 1] + validation[:n])) for n in range(blocks)]
    assert all(0 <= end - (n + 0.475) * section < 1000 for n, end in enumerate(ends))
    assert sum(map(len, validation)) == pytest.approx(0.05 * len(PLAY), rel=0.2)


def test_pieces_are_cut_between_speeches():
    train, validation = split(PLAY)
    for piece in [*train[:-1], *validation]:
        assert piece.endswith("\n\n")
    for piece in [*train[1:], *validation]:
        assert re.match(r"[A-Z]+\.\n|\[Exeunt|ACT |SCENE |\[Enter ", piece)


def test_one_character_in_twenty_is_for_validation_unless_one_says_otherwise():
    assert split(PLAY) == split(PLAY, 0.05)
    assert split(PLAY) not in (split(PLAY, 0.06), split(PLAY, 0.04))


def test_a_text_without_empty_lines_is_cut_at_lines():
    text = "".join(f"line {number}\n" for number in range(1000))
    train, validation = split(text, 0.1, 5)
    assert joined(train, validation) == text
    assert all(piece.startswith("line") and piece.endswith("\n") for piece in validation)
    assert sum(map(len, validation)) == pytest.approx(len(text) / 10, rel=0.1)


def test_no_token_of_the_validation_is_in_training():
    text = "".join(f"every{number} word{number} once{number}.\n\n" for number in range(10_000))
    train, validation = ({*chain(*map(tokenize, pieces))} for pieces in split(text, 0.1, 20))
    assert [token for token in train & validation if token.isalnum()] == []
    assert len(train) + len(validation) >= 30_000


@pytest.mark.parametrize("wrong", [0, 1, -0.5, 1.5, float("nan")])
def test_a_fraction_that_does_not_lie_between_0_and_1_is_refused(wrong):
    with pytest.raises(ValueError, match=f"^fraction={wrong} must lie between 0 and 1$"):
        split(PLAY, wrong)


def test_a_text_without_enough_lines_for_its_blocks_is_refused():
    for text in ("", "no line ends here", "one\n\ntwo", "a\n" * 3):
        sentence = f"^{len(text)} characters have too few empty lines for blocks=2$"
        with pytest.raises(ValueError, match=sentence):
            split(text, blocks=2)
    with pytest.raises(ValueError, match=r"^blocks=0 is too small: it must be at least 1$"):
        split(PLAY, blocks=0)


# --- the real book ------------------------------------------------------------------------------------------

on_the_book = pytest.mark.skipif(not REAL, reason="SHAKESPEARE_TXT names no copy of the book")


@pytest.fixture(scope="module")
def real():
    return shakespeare.read(Path(REAL))


@on_the_book
def test_the_complete_works_are_44(real):
    assert real.source == "complete works"
    assert len(real.works) == 44
    assert real.works[0][0] == "THE SONNETS"
    assert real.works[-1][0] == "VENUS AND ADONIS"
    for title, start, _ in real.works:
        assert real.text[start:].split("\n")[0].endswith(title)
    assert max(end - start for _, start, end in real.works) < 180_000
    assert clean(real.text) == real.text


@on_the_book
def test_the_cleaned_book_has_its_known_size(real):
    """Of the edition of 29 October 2024 exactly, of others about."""
    tokens = tokenize(real.text)
    speakers = re.findall(r"\n\n([A-Z][A-Z ,’]+)\.\n", real.text)
    if real.sha256.startswith("1e204597"):
        assert (len(real.text), len(tokens), len(set(tokens))) == (5_310_875, 1_964_934, 31_276)
        assert hashlib.sha256(real.text.encode()).hexdigest().startswith("42d5fd67")
    assert len(tokens) == pytest.approx(1_965_000, rel=0.02)
    assert len(speakers) == pytest.approx(30_000, rel=0.1)
    assert "".join(tokens) == real.text
    assert not re.search(r"Gutenberg|^Contents$|_|\S +\d+$|\t", real.text, re.MULTILINE)


@on_the_book
def test_validation_is_5_percent_of_the_book_and_touches_every_play(real):
    train, validation = split(real.text)
    assert joined(train, validation) == real.text
    assert sum(map(len, validation)) / len(real.text) == pytest.approx(0.05, abs=0.002)
    ends = [sum(map(len, train[: n + 1] + validation[:n])) for n in range(len(validation))]
    untouched = [end - start for _, start, end in real.works if not any(start <= at < end for at in ends)]
    assert len(untouched) <= 5
    assert all(length < 60_000 for length in untouched)  # poems


@on_the_book
@pytest.mark.parametrize("percent", [1, 10, 50, 90, 99])
def test_the_real_book_cut_off_is_refused(percent, tmp_path):
    data = Path(REAL).read_bytes()
    with pytest.raises(ValueError, match=r"is cut off|not a text in UTF-8"):
        load(write(tmp_path, data[: data.rindex(b"*** END OF") * percent // 100]))
