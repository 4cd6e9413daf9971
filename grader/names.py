"""Names that students chose, made safe: for paths, for a terminal, for a spreadsheet."""

import hashlib
import re
import unicodedata

PATH_LIMIT = 80
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}


def for_path(name):
    """A file name for any text: itself where it is plain and short, else shortened, with a hash so that no two meet."""
    plain = unicodedata.normalize("NFC", name)
    plain = re.sub(r"[^\w .,@+-]", "_", plain).strip(" .") or "_"
    while len(plain.encode()) > PATH_LIMIT:
        plain = plain[:-1]
    safe = plain.split(".")[0].lower() not in RESERVED and not plain.startswith("-") and not re.search(r"-[0-9a-f]{8}$", plain)
    if plain == name and safe:
        return plain
    return f"{plain}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def for_terminal(text):
    """The text without control characters, so that nothing in it moves a cursor or changes a colour."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def for_spreadsheet(text):
    """The text so that no spreadsheet takes it for a formula."""
    return f"'{text}" if text.lstrip()[:1] in {"=", "+", "-", "@", "\t", "\r"} else text
