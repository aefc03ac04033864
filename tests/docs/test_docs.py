"""The documentation pages: each relative link leads to a file, each anchor to a heading."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

import streamjoin
from streamjoin._errors import EXTENSION

ROOT = Path(__file__).parents[2]
FOLDERS = ("*.md", "docs/**/*.md", "python/*.md", "results/*.md", "tests/**/*.md")
PAGES = sorted(page for folder in FOLDERS for page in ROOT.glob(folder))
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """The heading anchors, as GitHub and the site generate them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_and_anchors_exist(page: Path) -> None:
    broken = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_page_is_in_the_site_navigation() -> None:
    listed = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    names = [str(page.relative_to(ROOT)) for page in PAGES if page.parent != ROOT / "python"]
    assert [name for name in names if name not in listed] == []


def test_docs_index_links_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / path).resolve() for path in LINK.findall(index.read_text("utf-8"))}
    decisions = ROOT / "docs" / "internals" / "decisions"
    pages = {p for p in (ROOT / "docs").rglob("*.md") if p.parent != decisions}
    assert pages - linked == {index}


def test_docs_page_has_at_most_250_lines() -> None:
    lengths = {
        page: len(page.read_text("utf-8").splitlines()) for page in ROOT.glob("docs/**/*.md")
    }
    assert {page: length for page, length in lengths.items() if length > 250} == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_lines_fit_the_site_width(page: Path) -> None:
    """At 1400 pixels a code block shows that many characters; the rest would need scrolling."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:python|sql)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert [line for block in blocks for line in block.splitlines() if len(line) > 110] == []


def first_cells(page: str) -> set[str]:
    """The names in the first column of a page's tables."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))


def test_reference_lists_every_argument() -> None:
    exported = [getattr(streamjoin, name) for name in streamjoin.__all__]
    functions = [f for f in exported if inspect.isfunction(f)]
    of_all = {name for f in functions for name in inspect.signature(f).parameters}
    named_in_the_text = {"df", "left", "right", "builder", "base"}
    assert first_cells("reference/dataframe.md") == of_all - named_in_the_text


def test_reference_shows_every_signature() -> None:
    text = (ROOT / "docs" / "reference" / "dataframe.md").read_text(encoding="utf-8")
    functions = [
        name for name in streamjoin.__all__ if inspect.isfunction(getattr(streamjoin, name))
    ]
    as_methods = {name: re.sub(r"_(\w)", lambda m: m[1].upper(), name) for name in functions}
    written = {
        re.sub(r"\s*=\s*", "=", signature)
        for signature in re.findall(r"`(?:df|left|streamjoin)\.(\w+\([^`]*\))`", text)
    }
    for name in functions:
        parameters = inspect.signature(getattr(streamjoin, name)).parameters.values()
        plain = inspect.Signature(
            [
                p.replace(annotation=inspect.Parameter.empty)
                for p in parameters
                if p.name not in ("df", "left")
            ]
        )
        expected = str(plain).replace("'", '"')
        assert {f"{name}{expected}", f"{as_methods[name]}{expected}"} & written, f"{name}{expected}"


def test_kubernetes_manifests_are_valid_yaml() -> None:
    text = (ROOT / "docs" / "how-to" / "kubernetes.md").read_text(encoding="utf-8")
    whole, dependencies = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", text, re.DOTALL))
    assert whole["kind"] == "SparkApplication"
    assert whole["spec"]["sparkConf"]["spark.sql.extensions"] == EXTENSION
    assert all(isinstance(value, str) for value in whole["spec"]["sparkConf"].values())
    assert set(dependencies["spec"]["deps"]) == {"jars", "pyFiles"}


def test_the_architecture_names_every_package() -> None:
    page = (ROOT / "docs" / "internals" / "architecture.md").read_text(encoding="utf-8")
    named = {part for word in re.findall(r"`([\w.]+)`", page) for part in word.split(".")}
    sources = [
        ROOT / "jvm" / "core" / "src" / "main" / "scala" / "io" / "streamjoin",
        *(ROOT / "jvm" / "spark" / "src" / "main" / "scala").glob(
            "org/apache/spark/sql/streamjoin"
        ),
    ]
    packages = {folder.name for root in sources for folder in root.rglob("*") if folder.is_dir()}
    assert packages - named == set()


def test_the_layout_names_every_folder_of_tests() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"([\w-]+)/", page.partition("## Layout")[2]))
    folders = {file.parent.name for file in ROOT.glob("tests/*/*.py")}
    assert folders - named == set()
