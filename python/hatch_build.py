"""Metadata that the sources do not know: where the repository of a release is."""

from __future__ import annotations

import os
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ProjectUrls(MetadataHookInterface):
    """Links of the package's page, from ``STREAMJOIN_HOME_PAGE``; none where that is not set."""

    def update(self, metadata: dict[str, Any]) -> None:
        home = os.environ.get("STREAMJOIN_HOME_PAGE", "").rstrip("/")
        metadata["urls"] = (
            {
                "Homepage": home,
                "Documentation": f"{home}/blob/main/docs/README.md",
                "Source": home,
                "Issues": f"{home}/issues",
                "Changelog": f"{home}/blob/main/CHANGELOG.md",
            }
            if home
            else {}
        )
