"""Stream-to-stream joins with a watermark per column for Spark Structured Streaming.

Importing this package adds the methods ``imposeOrder`` and ``streamJoin`` to
``pyspark.sql.DataFrame``. The functions ``impose_order`` and ``stream_join`` do the same, and a
type checker knows them. ``pending`` lists the rows that a join buffers. ``doctor`` explains why
there is no output. ``rescale`` gives a checkpoint another number of partitions. ``evolve`` lets a
changed query continue from a checkpoint. ``warm`` starts a query from history. ``configure`` adds
the jar of this package to a session builder.
"""

from __future__ import annotations

from streamjoin import _version as _version  # first: the imports below need a supported pyspark
from streamjoin._api import attach, impose_order, stream_join
from streamjoin._changelog import from_changelog, from_debezium, from_upserts, to_upserts
from streamjoin._delta import delta_package
from streamjoin._diagnosis.advice import LagAdvice, StateEstimate
from streamjoin._diagnosis.findings import Diagnosis, Finding
from streamjoin._doctor import doctor
from streamjoin._errors import SetupError
from streamjoin._evolve import evolve
from streamjoin._jar import jar_path
from streamjoin._pending import pending
from streamjoin._rescale import rescale
from streamjoin._session import conf, configure
from streamjoin._version import __version__
from streamjoin._warm import warm
from streamjoin._watch import watch
from streamjoin._words import Ahead, Emit, How, Late, Mode, OnExpiry, OrderScope, Side

__all__ = [
    "Ahead",
    "Diagnosis",
    "Emit",
    "Finding",
    "How",
    "LagAdvice",
    "Late",
    "Mode",
    "OnExpiry",
    "OrderScope",
    "SetupError",
    "Side",
    "StateEstimate",
    "__version__",
    "conf",
    "configure",
    "delta_package",
    "doctor",
    "evolve",
    "from_changelog",
    "from_debezium",
    "from_upserts",
    "impose_order",
    "jar_path",
    "pending",
    "rescale",
    "stream_join",
    "to_upserts",
    "warm",
    "watch",
]

attach()
