"""The time zone of displayed times: that of the session."""

from __future__ import annotations

import re
from datetime import timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

# The offsets that Spark accepts besides names of regions: +09:00, UTC+9, GMT-3:30.
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?")


def of_session(session: SparkSession) -> tzinfo:
    """Return the zone in which `pending` and `explain` of a session display times."""
    try:
        return zone(session.conf.get("spark.sql.session.timeZone") or "UTC")
    except PySparkException:
        return timezone.utc


def zone(name: str) -> tzinfo:
    """Return the zone of a name in Spark; UTC if this Python does not know it."""
    offset = _OFFSET.fullmatch(name)
    if offset:
        sign, hours, minutes = offset.groups()
        ahead = timedelta(hours=int(hours), minutes=int(minutes or 0))
        return timezone(-ahead if sign == "-" else ahead, name)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        # also if the system has no zone database
        return timezone.utc
