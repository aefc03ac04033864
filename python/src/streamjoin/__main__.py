"""The command ``streamjoin``, which is also ``python -m streamjoin``."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamjoin._delta import delta_package
from streamjoin._doctor import doctor
from streamjoin._errors import SetupError
from streamjoin._evolve import evolve
from streamjoin._jar import jar_path
from streamjoin._launch import launch_setting
from streamjoin._pending import pending
from streamjoin._rescale import rescale
from streamjoin._session import configure
from streamjoin._version import __version__

Lines = Callable[[argparse.Namespace, SparkSession], Iterable[object]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, print its lines or its refusal, and return the exit code."""
    asked = _parser().parse_args(arguments)
    try:
        if asked.command in _PRINTED:
            print(_PRINTED[asked.command](asked.spark))
        else:
            _with_spark(asked, _COMMANDS[asked.command])
    except (PySparkException, SetupError, argparse.ArgumentTypeError) as refused:
        print(refused, file=sys.stderr)
        return 1
    except Exception as failed:
        # the first line of py4j's Py4JJavaError is about py4j; `jar` works without py4j
        java = getattr(failed, "java_exception", None)
        if java is None:
            raise
        print(java.toString().partition("\n")[0], file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="streamjoin",
        description="Commands for stream-to-stream joins. All but jar and delta start a Spark.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")

    def on_checkpoint(name: str, text: str) -> argparse.ArgumentParser:
        added = command(name, text)
        added.add_argument("checkpoint", help="the checkpointLocation of a query, running or not")
        return added

    on_checkpoint("doctor", "explain from the state why a query emits nothing")
    watched = on_checkpoint("watch", "repeat the diagnosis whenever it changes")
    watched.add_argument("--seconds", type=float, default=10, help="between two looks; default 10")
    listed = on_checkpoint("pending", "list buffered rows, as a line of JSON each")
    listed.add_argument("--side", choices=("left", "right"), help="only rows of this input")
    listed.add_argument("--operator", type=int, help="only rows of the join with this number")
    listed.add_argument("--batch", type=int, help="the batch; default: the last committed one")
    listed.add_argument("--limit", type=int, default=20, help="the number of rows; default 20")
    scaled = command("rescale", "write a checkpoint with another number of partitions")
    scaled.add_argument("checkpoint", help="the checkpointLocation of a query that does not run")
    scaled.add_argument("to", help="the folder of the new checkpoint")
    scaled.add_argument("--partitions", type=int, required=True, help="the new number")
    evolved = command("evolve", "write a checkpoint from which a changed query continues")
    evolved.add_argument("checkpoint", help="the checkpointLocation of a query that does not run")
    evolved.add_argument("to", help="the folder of the new checkpoint")
    evolved.add_argument(
        "--query",
        required=True,
        metavar="MODULE:FUNCTION",
        help="a function that takes the session and returns the DataFrame of the changed query",
    )
    for name, text in (
        ("rename", "a renamed column"),
        ("fill", "the value of an added column in stored rows"),
        ("sources", "the source that continues another one; NEW= is a new source"),
    ):
        metavar = _PAIRS[name].partition(",")[0]
        evolved.add_argument(f"--{name}", metavar=metavar, help=text, action="append", default=[])
    evolved.add_argument("--dry-run", action="store_true", help="print the lines, write nothing")
    for name, text in (
        ("jar", "print the path of the jar"),
        ("delta", "print the Maven coordinate of Delta Lake"),
    ):
        loaded = command(name, text)
        loaded.add_argument("--spark", help="the version of the Spark that loads it")
    return parser


def _with_spark(asked: argparse.Namespace, lines: Lines) -> None:
    builder = SparkSession.builder.appName(f"streamjoin {asked.command}")
    if launch_setting("spark.master") is None:
        builder = builder.master("local[*]")
    builder = builder.config("spark.log.level", "ERROR").config(
        "spark.ui.showConsoleProgress", False
    )
    session = configure(builder).getOrCreate()
    try:
        for line in lines(asked, session):
            print(line, flush=True)
    finally:
        session.stop()


def _doctor(asked: argparse.Namespace, spark: SparkSession) -> Iterator[object]:
    yield doctor(asked.checkpoint)


def _watch(asked: argparse.Namespace, spark: SparkSession) -> Iterator[object]:
    shown = ""
    while True:
        seen = str(doctor(asked.checkpoint))
        if seen != shown:
            yield f"{time.strftime('%H:%M:%S')} {seen}"
            shown = seen
        time.sleep(asked.seconds)


def _pending(asked: argparse.Namespace, spark: SparkSession) -> Iterator[object]:
    rows = pending(
        asked.checkpoint, asked.side, operator=asked.operator, batch_id=asked.batch
    ).limit(asked.limit)
    return (row[0] for row in rows.select(F.to_json(F.struct("*"))).toLocalIterator())


def _rescale(asked: argparse.Namespace, spark: SparkSession) -> Iterable[object]:
    return rescale(asked.checkpoint, asked.to, asked.partitions, spark=spark)


def _evolve(asked: argparse.Namespace, spark: SparkSession) -> Iterable[object]:
    rename, fill, sources = (_pairs(asked, option) for option in _PAIRS)
    return evolve(
        asked.checkpoint,
        asked.to,
        _function(asked.query)(spark),
        rename=rename,
        fill=fill,
        sources={new: old or None for new, old in sources.items()},
        dry_run=asked.dry_run,
    )


def _function(query: str) -> Callable[[SparkSession], DataFrame]:
    """Import the function of ``--query``; an error that its module raises has its traceback."""
    module, _, name = query.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), name)):
        raise argparse.ArgumentTypeError(f"--query {query}: write MODULE:FUNCTION")
    sys.path.insert(0, "")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as missing:
        if not f"{module}.".startswith(f"{missing.name}."):
            raise
        raise argparse.ArgumentTypeError(f"--query {query}: {missing}") from None
    function: Callable[[SparkSession], DataFrame] | None = getattr(found, name, None)
    if function is None:
        raise argparse.ArgumentTypeError(
            f"--query {query}: the module {module} has no function {name}"
        )
    return function


def _pairs(asked: argparse.Namespace, option: str) -> dict[str, str]:
    pairs = {}
    for argument in getattr(asked, option):
        name, equals, pairs[name] = argument.partition("=")
        if not equals:
            raise argparse.ArgumentTypeError(f"--{option} {argument}: write {_PAIRS[option]}")
    return pairs


_PAIRS = {
    "rename": "OLD=NEW",
    "fill": "COLUMN=VALUE",
    "sources": "NEW=OLD, or NEW= for a new source",
}

_PRINTED = {"jar": jar_path, "delta": delta_package}

_COMMANDS: dict[str, Lines] = {
    "doctor": _doctor,
    "watch": _watch,
    "pending": _pending,
    "rescale": _rescale,
    "evolve": _evolve,
}


if __name__ == "__main__":
    sys.exit(main())
