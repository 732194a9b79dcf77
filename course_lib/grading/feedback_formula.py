"""A student's formula as MathML that a page can hold: letters and layout, nothing that acts or asks."""

from __future__ import annotations

import re
from html import escape, unescape
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import Converter

MAX_FORMULA = 2000  # characters
TAGS = re.compile(
    "math|menclose|mfrac|mi|mn|mo|mover|mpadded|mphantom|mroot|mrow|mspace|msqrt|mstyle|msub|msubsup|msup|"
    "mtable|mtd|mtext|mtr|munder|munderover"
)
ATTRIBUTES = re.compile(
    "accent|accentunder|columnalign|columnlines|columnspacing|depth|display|displaystyle|fence|form|height|"
    "largeop|linebreak|linethickness|lspace|mathbackground|mathcolor|mathsize|mathvariant|maxsize|minsize|"
    "movablelimits|notation|rowlines|rowspacing|rspace|scriptlevel|separator|stretchy|voffset|width"
)
VALUE = re.compile(r"[\w .,%#+-]*", re.ASCII)  # words, lengths and colours: no address, no rule of a style
XMLNS = "http://www.w3.org/1998/Math/MathML"


def formula(tex: str, display: str) -> str:
    """A formula as MathML; as it was typed where that cannot be, or would hold more than a formula.

    >>> formula("x^2", "inline")[:60]
    '<math xmlns="http://www.w3.org/1998/Math/MathML" display="in'
    >>> formula(r"\\href{javascript:alert(1)}{x}", "inline")
    '<code>\\\\href{javascript:alert(1)}{x}</code>'
    """
    typed = tex.replace("&lt;", "<")  # written so when the submission was made text
    try:
        tree = Converter(display=display).convert_to_element(typed) if len(tex) <= MAX_FORMULA else None
        if tree is not None and all(_is_plain(each) for each in tree.iter()):
            return _written(tree)
    except Exception:  # whatever a student can write between two dollars
        pass
    return f"<code>{escape(typed, quote=False)}</code>"


def _is_plain(element: Element) -> bool:
    return TAGS.fullmatch(element.tag) is not None and all(
        (name, value) == ("xmlns", XMLNS) or (ATTRIBUTES.fullmatch(name) and VALUE.fullmatch(value))
        for name, value in element.items()
    )


def _written(tree: Element) -> str:
    """The tree as text, with what it says escaped: the converter writes characters as entities."""
    for each in tree.iter():
        each.text, each.tail = unescape(each.text or ""), unescape(each.tail or "")
    return tostring(tree, encoding="unicode")
