"""What holds of every page whole: nothing inline, nothing from elsewhere, one finding, every id once."""

import re
from collections import Counter

INLINE = re.compile(r"\sstyle=|<style|\son\w+=")
ELSEWHERE = re.compile(r"(src|action)=\"(https?:)?//")
OUTER_PICTURE = re.compile(
    r"(<svg[^>]*>)(?:(?!</?svg).|<svg(?:(?!</svg>).)*</svg>)*</svg>", re.DOTALL
)


def faults_of(html: str) -> list[str]:
    """What is wrong with a page, in words; none where it is as a strict policy and a reader want it."""
    ids = Counter(re.findall(r'\sid="([^"]+)"', html))
    scripts = re.findall(r"<script([^>]*)>", html)
    # A picture within a picture is a part of it, and named by it.
    pictures = OUTER_PICTURE.findall(html)
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
