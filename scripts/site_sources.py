"""Copies the sources of the documentation's site: pages, style, and the files that pages link to.

``python scripts/site_sources.py FOLDER``: FOLDER has the layout of the repository, so that the same
relative links work in both. The strict build of the site finds a broken one.
"""

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "docs/**/*.md",
    "docs/site.css",
]
LINK = re.compile(r"\]\(([^)#\s]+)")


def main(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    waiting = sorted(page for pattern in PAGES for page in ROOT.glob(pattern))
    copied: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file in copied or not file.is_file() or not file.is_relative_to(ROOT):
            continue
        copied.add(file)
        to = folder / file.relative_to(ROOT)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, to)
        if file.suffix == ".md":
            links = LINK.findall(file.read_text(encoding="utf-8"))
            waiting += [(file.parent / link).resolve() for link in links if "://" not in link]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
