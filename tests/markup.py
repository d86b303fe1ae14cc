"""What holds of every page whole: nothing inline, nothing from elsewhere, one finding, every id once."""

import re
from collections import Counter

INLINE = re.compile(r"\sstyle=|<style|\son\w+=")
ELSEWHERE = re.compile(r"(src|action)=\"(https?:)?//")
PICTURE = re.compile(r"<svg[^>]*>|</svg>")


def faults_of(html: str) -> list[str]:
    """What is wrong with a page, in words; none where it is as a strict policy and a reader want it."""
    ids = Counter(re.findall(r'\sid="([^"]+)"', html))
    scripts = re.findall(r"<script([^>]*)>", html)
    pictures = outer_pictures(html)
    found = {
        "has something inline": INLINE.findall(html),
        "has a script inline": [
            each for each in scripts if " src=" not in each and "application/json" not in each
        ],
        "asks another host": ELSEWHERE.findall(html),
        "has an id twice": [each for each, times in ids.items() if times > 1],
        "has a picture without a name": [
            each for each in pictures if "aria-hidden" not in each and "aria-label=" not in each
        ],
    }
    faults = [f"{fault}: {examples[0]}" for fault, examples in found.items() if examples]
    counted = {part: html.count(part) for part in ("<h1>", "<main")}
    return faults + [f"has {part} {times} times" for part, times in counted.items() if times != 1]


def outer_pictures(html: str) -> list[str]:
    """The tags that begin pictures; one within another is a part of it, and named by it."""
    found, depth = [], 0
    for tag in PICTURE.findall(html):
        if tag != "</svg>" and depth == 0:
            found.append(tag)
        depth += -1 if tag == "</svg>" else 1
    return found
