"""The prose of the tree: Markdown pages, comments and docstrings, sentence by sentence.

``python -m tests.docs.prose [FOLDER]`` prints the private words of each file.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Everyday verbs and pronouns for which the field has nouns.
PRIVATE = re.compile(
    r"\b(?:comes? out|came out|given out|gives? out|goes|gone|told|tells?|held|what is|what was"
    r"|those that|which of them|as it stands?|said so|is said|asked (?:of|for)|shown"
    r"|stands? there|lies|lie|brings?|brought|so many|as ever|nobody|somebody|whoever|meant)\b",
    re.IGNORECASE,
)
_SCALA = re.compile(r"/\*\*?(.*?)\*/|((?:^[ \t]*//[^\n]*\n)+)", re.DOTALL | re.MULTILINE)
_HASHES = re.compile(r"(?:^[ \t]*#(?!!).*\n)+", re.MULTILINE)
_WITH_HASHES = ("Makefile", "Dockerfile", ".sh", ".toml", ".yml", ".yaml", ".ini", ".properties")
# a tag of Scaladoc, a header of numpydoc
_TAGS = re.compile(r"^\s*@(?:param|return|tparam|throws)\s+\S*|^\s*-{3,}\s*$", re.MULTILINE)


def files() -> list[Path]:
    """The files of the tree that contain prose; reports and records of a date are not prose."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [ROOT / name for name in listed if not name.startswith("results/")]


def prose(file: Path) -> str:
    """The prose of a file, in paragraphs; empty for other kinds of files."""
    if file.suffix == ".md":
        return file.read_text(encoding="utf-8")
    if file.suffix in (".scala", ".sbt", ".java"):
        found = _SCALA.findall(file.read_text(encoding="utf-8"))
        texts = [re.sub(r"^\s*(?:\*|//)", "", block or line, flags=re.M) for block, line in found]
        return "\n\n".join(re.sub(r"\{\{\{.*?\}\}\}", "", text, flags=re.S) for text in texts)
    if file.suffix == ".py":
        return "\n\n".join(_of_python(file.read_text(encoding="utf-8")))
    if file.name.endswith(_WITH_HASHES):
        # indented lines of a comment are commands
        blocks = _HASHES.findall(file.read_text(encoding="utf-8"))
        return "\n\n".join(re.sub(r"^\s*#(?: {2,}.*)?", "", block, flags=re.M) for block in blocks)
    return ""


def _of_python(text: str) -> Iterator[str]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented):
            yield ast.get_docstring(node) or ""
    line = -1
    comments: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] > line + 1:
                comments.append("")
            line = token.start[0]
            comments.append(token.string.lstrip("# "))
    yield "\n".join(f"{comment}" if comment else "\n" for comment in comments)


def sentences(text: str) -> Iterator[str]:
    """The sentences, without code, tables, headings and the text of links' targets."""
    text = re.sub(r"```.*?```", "", _TAGS.sub("\n\n", text), flags=re.S)
    text = re.sub(r"^\|.*$|^#.*$|^\s*>>>.*$", "", text, flags=re.M)
    text = re.sub(r"``[^`]*``|`[^`]*`", "X", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^\s*(?:[-*]|\d+\.)\s+", "\n\n", text, flags=re.M)
    for paragraph in re.split(r"\n\s*\n", text):
        for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z*X`(])", " ".join(paragraph.split())):
            if len(sentence.split()) > 2:
                yield sentence


def private(file: Path) -> list[str]:
    """The sentences of a file that contain private words."""
    return [sentence for sentence in sentences(prose(file)) if PRIVATE.search(sentence)]


if __name__ == "__main__":
    within = (ROOT / (sys.argv[1] if len(sys.argv) > 1 else ".")).resolve()
    for found in files():
        if found.is_relative_to(within):
            for sentence in private(found):
                print(f"{found.relative_to(ROOT)}: {sentence}")
