"""Names and texts that strangers chose, made harmless for pages, tables and folders."""

import hashlib
import re
import unicodedata

LONGEST = 20_000  # characters of an answer, or of an excerpt, that are kept; pages and tables cut it no further
CELL = 2 * LONGEST  # characters of a cell: room for all that makes an answer harmless
UNSEEN = re.compile(  # letters that take no room, or only room
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def clean(text: object, most: int = 200) -> str:
    """The text without control characters, cut off if it is too long."""
    text = CONTROL.sub("", str(text))
    return text if len(text) <= most else text[: most - 1] + "…"


def cell(text: object, most: int = 200) -> str:
    """The text for a cell of a table, made so that no spreadsheet takes it for a formula."""
    text = re.sub(r"([;\t]\s*)(?=[=+@＝＋＠|%-])", r"\1'", clean(text, most))  # a spreadsheet may split it there
    return f"'{text}" if text.lstrip()[:1] in tuple("=+-@＝＋－＠\t|%") and text.strip() else text


def as_typed(text: str) -> str:
    """What was typed before `cell` made it harmless: for pages, which take nothing for a formula."""
    text = re.sub(r"([;\t]\s*)'(?=[=+@＝＋＠|%-])", r"\1", text)
    return re.sub(r"^'(?=\s*[=+\-@＝＋－＠\t|%])", "", text)


def slug(student: str) -> str:
    """A student's id as the name of a folder; no two ids share one."""
    plain = re.sub(r"[^A-Za-z0-9-]+", "_", student)[:40].strip("_")
    return plain if plain == student else f"{plain}-{hashlib.sha256(student.encode(errors='replace')).hexdigest()[:8]}"


def as_seen(student: str) -> str:
    """A name as it looks to a reader, a table, or a file system for which A and a are the same."""
    seen = unicodedata.normalize("NFKC", UNSEEN.sub("", cell(student))).casefold()
    return " ".join("".join(filter(str.isprintable, seen)).split())
