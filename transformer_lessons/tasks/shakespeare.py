"""The complete works of Shakespeare: found or downloaded, verified, cleaned, and split for validation."""

import hashlib
import http.client
import os
import re
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from transformer_lessons.basis import atomic
from transformer_lessons.basis.terminal import say
from transformer_lessons.tasks import mock_play
from transformer_lessons.validation import check_sizes

URL = "https://www.gutenberg.org/cache/epub/100/pg100.txt"
WORKS = 44  # 38 plays, the Sonnets, 5 poems
SHORTEST = 5_000_000  # characters: the cleaned book has about 5.3 million in every edition
LEAST = 1_000  # characters that any other text needs
TRIES, SILENCE, LONGEST, LARGEST = 3, 10, 300, 50_000_000  # tries, seconds, seconds, bytes


@dataclass(frozen=True)
class Corpus:
    text: str
    works: tuple  # title, start and end of each, in order: together they are the whole text
    source: str  # "complete works", "invented play", or another file's name
    sha256: str | None  # of the file as it was read


def load(path=None, download=True):
    """The corpus: the file at this path, else the one that SHAKESPEARE_TXT names, else the user's cached
    copy, else Project Gutenberg's, downloaded once, else an invented play, announced in two lines.

    A file that mentions Project Gutenberg anywhere is taken for its complete works: it must contain all of
    them, and is cleaned. Any other UTF-8 text of 1,000 characters or more is a corpus too: only its byte-order
    mark and line endings change. Anything else raises a ValueError that says why. A changed letter shows only
    in the file's hash, which is checked for the cached copy.
    """
    path = path or os.environ.get("SHAKESPEARE_TXT")
    if path:
        return read(Path(path).expanduser())
    kept = cache()
    return read_cache(kept) or (fetch(kept) if download else None) or invent()


def invent():
    """The corpus that needs no file."""
    say("The complete works of Shakespeare are not here, so this is an invented play.")
    say(f"To get them, go online, or save {URL} and set SHAKESPEARE_TXT to its path.")
    text, _ = mock_play.write(scenes=1000, seed=0)
    return Corpus(text, (("The invented play", 0, len(text)),), "invented play", None)


# --- what a file holds --------------------------------------------------------------------------------------


def read(path):
    """The corpus in a file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    return verify(data, path)


def verify(data, name):
    """The corpus in these bytes, or an error that says why there is none."""
    raw, digest = decode(data, name), hashlib.sha256(data).hexdigest()
    if re.search(r"project\s+gutenberg", raw, re.IGNORECASE):
        return Corpus(*verify_book(raw, name), "complete works", digest)
    if len(raw) < LEAST:
        raise ValueError(f"{name} is too short: it has {len(raw)} characters, and needs at least {LEAST}")
    return Corpus(raw, ((Path(name).stem, 0, len(raw)),), Path(name).name, digest)


def decode(data, name):
    """Bytes to text, with \\n at line ends; anything but plain text in UTF-8 is refused."""
    if not data:
        raise ValueError(f"{name} is empty")
    if data.startswith(b"version https://git-lfs"):
        raise ValueError(f"{name} is a Git LFS pointer, not the file: run git lfs pull")
    if data.startswith((b"\x1f\x8b", b"PK\x03\x04")):
        raise ValueError(f"{name} is compressed: unpack it first")
    if re.match(rb"(\xef\xbb\xbf)?\s*<(!doctype|html|head|\?xml|!--)", data, re.IGNORECASE):
        raise ValueError(f"{name} is a web page, not a plain text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not a text in UTF-8: byte {error.start:,} is wrong") from error
    stray = re.search(r"[\x00-\x08\x0b\x0e-\x1f\x7f]", text)
    if stray:
        raise ValueError(f"{name} is not a plain text: character {stray.start():,} is {stray[0]!r}")
    return text.replace("\r\n", "\n").replace("\r", "\n")


# --- the book -----------------------------------------------------------------------------------------------

# Editions differ: THE or THIS, one line or two.
EBOOK = r"OF TH(?:E|IS) PROJECT GUTENBERG EBOOK"
START = re.compile(rf"^[^\S\n]*\*\*\* ?START {EBOOK}([^*]*)\*\*\*.*\n?", re.MULTILINE)
END = re.compile(rf"^[^\S\n]*\*\*\* ?END {EBOOK}", re.MULTILINE)


def verify_book(raw, name) -> tuple[str, tuple]:
    """The text and the works of a book that claims to be the complete works."""
    start = START.search(raw)
    if not start:
        raise ValueError(f"{name} is damaged or too old: it lacks '*** START OF THE PROJECT GUTENBERG EBOOK'")
    if "SHAKESPEARE" not in start[1].upper():
        raise ValueError(f"{name} is another book: {' '.join(start[1].split())}")
    if not END.search(raw, start.end()):
        raise ValueError(f"{name} is cut off: it lacks '*** END OF THE PROJECT GUTENBERG EBOOK'")
    works = list(clean_works(raw))
    text = "".join(work for _, work in works)
    if len(works) != WORKS or len(text) < SHORTEST:
        raise ValueError(
            f"{name} is damaged: {len(works)} of {WORKS} works were found, with {len(text):,} of "
            f"at least {SHORTEST:,} characters"
        )
    ends = [sum(len(work) for _, work in works[: number + 1]) for number in range(WORKS)]
    return text, tuple((title, end - len(work), end) for (title, work), end in zip(works, ends, strict=True))


def clean(raw):
    """The text of the works alone: tidied, and without the book's header, licence and tables of contents."""
    return "".join(work for _, work in clean_works(raw))


def clean_works(raw):
    """(title, text) of each work. A heading ends in its title, or stands above a play's table of contents."""
    text = tidy(raw)
    titles, position = list_works(text)
    starts = []
    for title in titles:
        heading = re.compile(rf"^.*(?:{re.escape(title)}$|(?=\n\nContents$))", re.MULTILINE)
        place = heading.search(text, position)
        if place:
            starts.append((title, place.start()))
            position = place.end()
    starts = starts or [("", 0)]
    for (title, start), (_, end) in zip(starts, starts[1:] + [("", len(text))], strict=True):
        contents = r"\A(.*\n\n)Contents\n.{0,5000}?(?=^Dramatis Person)"
        yield title, re.sub(contents, r"\1", text[start:end], flags=re.MULTILINE | re.DOTALL)


def tidy(raw):
    """What lies between the book's two markers, if it has them, without marks that are not text.

    These are underscores for italics, tabs, numbers in the margin, spaces at line ends and repeated empty lines.
    """
    text = re.sub("[_\ufeff]", "", raw.replace("\r\n", "\n").replace("\r", "\n"))
    text = re.sub(r" *\t[ \t]*", " ", text)
    text = END.split(START.split(text)[-1])[0].strip()
    text = re.sub(r"(?<=\S)(?: +\d{1,4})+ *$", "", text, flags=re.MULTILINE)
    text = re.sub(r" +$|^ +(?=Contents *$|Dramatis Person)", "", text, flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", text) + "\n"


def list_works(text):
    """The 44 titles in the table of contents, and where that table ends: where its first title appears again."""
    contents = re.match(r"(?:.*\n){0,20}?Contents\n", text)
    titles, position = [], contents.end() if contents else len(text)
    for line in text[position : position + 10_000].splitlines(keepends=True):
        if titles and line.strip() == titles[0]:
            break
        titles += [line.strip()] if line.strip() else []
        position += len(line)
    return (titles, position) if len(titles) == WORKS else ([], 0)


# --- the cache, and the network -----------------------------------------------------------------------------


def cache():
    """Where this user's copy is kept, with its hash beside it."""
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    return Path(home).expanduser() / "transformer-lessons" / "pg100.txt"


def read_cache(kept):
    """The copy kept from an earlier download, if it is there and unchanged."""
    digest = kept.with_suffix(".sha256")
    try:
        if not kept.exists():
            return None
        corpus = read(kept)
        if digest.exists() and digest.read_text().strip() != corpus.sha256:
            raise ValueError(f"{kept} has changed since it was downloaded")
    except (OSError, ValueError) as error:
        return say(f"{error}, so it is not used.")
    return corpus


def fetch(kept):
    """The book from Project Gutenberg, verified, then kept; None if that fails."""
    try:
        data = download_bytes()
        book = verify_book(decode(data, URL), URL)
    except (OSError, http.client.HTTPException, ValueError) as error:
        why = error.reason if type(error) is urllib.error.URLError else error
        return say(f"The download failed: {' '.join(str(why).split())}.")
    corpus = Corpus(*book, "complete works", hashlib.sha256(data).hexdigest())
    try:
        keep(data, corpus.sha256, kept)
    except OSError as error:
        say(f"The book could not be kept in {kept.parent}: {error.strerror}.")
    return corpus


def keep(data, digest, kept):
    """Writes the copy, then its hash. In between there is no hash, rather than that of an older copy."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.with_suffix(".sha256").unlink(missing_ok=True)
    atomic.write(kept, data)
    atomic.write(kept.with_suffix(".sha256"), f"{digest}\n".encode())


def download_bytes():
    """The whole file: if the connection breaks, the next try asks for the rest."""
    data, deadline = bytearray(), time.monotonic() + LONGEST
    for left in reversed(range(TRIES)):
        try:
            download_rest(data, deadline)
            break
        except (OSError, http.client.HTTPException) as error:
            if left == 0 or (isinstance(error, urllib.error.HTTPError) and error.code < 500):
                raise
    return bytes(data)


def download_rest(data, deadline):
    """Append what is missing to the data."""
    request = urllib.request.Request(URL, headers={"User-Agent": "transformer-lessons"})
    request.add_header("Range", f"bytes={len(data)}-")
    with urllib.request.urlopen(request, timeout=SILENCE) as answer:
        if not answer.headers.get("Content-Range", "").startswith(f"bytes {len(data)}-"):
            data.clear()  # this server starts from the beginning
        size = len(data) + int(answer.headers.get("Content-Length", 0))
        while part := answer.read1(1 << 16):
            data += part
            if time.monotonic() > deadline or len(data) > LARGEST:
                raise ValueError(f"{URL} sends more than {LARGEST:,} bytes, or takes {LONGEST} seconds")
            print(f"Downloading the complete works: {len(data) / 1e6:.1f} MB", end="\r", file=sys.stderr)
        say("")
    if len(data) < size:
        raise OSError(f"{URL} broke off after {len(data):,} of {size:,} bytes")


# --- training and validation --------------------------------------------------------------------------------


def split(text, fraction=0.05, blocks=None):
    """Pieces for training and pieces for validation; taken alternately, they are the text.

    The validation blocks are spread evenly over the text, by default one per 50,000 characters. They are
    cut after empty lines (in a text that has none, after lines), so no speech is in both.
    """
    blocks = max(1, len(text) // 50_000) if blocks is None else blocks
    check_sizes(blocks=blocks)
    if not 0 < fraction < 1:
        raise ValueError(f"fraction={fraction} must lie between 0 and 1")
    mark = "\n\n" if "\n\n" in text else "\n"
    section, cuts = len(text) / blocks, [0]
    for number in range(2 * blocks):
        side = -fraction if number % 2 == 0 else fraction
        wanted = int((number // 2 + 0.5 + side / 2) * section)
        cuts.append(text.find(mark, max(wanted, cuts[-1])) + len(mark))
        if cuts[-1] < len(mark) or cuts[-1] == len(text):
            raise ValueError(f"{len(text)} characters have too few empty lines for blocks={blocks}")
    pieces = [text[start:end] for start, end in zip(cuts, cuts[1:] + [len(text)], strict=True)]
    return pieces[0::2], pieces[1::2]
