"""The anchor of a heading: what the pages link to, and what Sphinx makes."""

import re


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
