"""The command ``streamjoin``: as a process, and its lines in the session of the tests."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import streamjoin
from streamjoin.__main__ import _COMMANDS, _PRINTED, _parser, main
from tests.orders import Shop
from tests.processes import ROOT, run
from tests.streams import Run

COMMAND = str(Path(sys.executable).parent / "streamjoin")


@pytest.fixture
def joined(shop: Shop) -> Run:
    shop.order((1, "10:00"), (2, "10:10"))
    run = shop.joined("left")
    run.step()
    return run


def lines(shop: Shop, *arguments: str) -> Iterator[str]:
    """The lines of a command, in this session."""
    asked = _parser().parse_args(arguments)
    return map(str, _COMMANDS[asked.command](asked, shop.session))


def test_jar_and_version_are_printed_without_spark(capsys: pytest.CaptureFixture[str]) -> None:
    module = [sys.executable, "-m", "streamjoin"]
    printed = run([*module, "jar"])
    assert printed == streamjoin.jar_path()
    assert Path(printed).is_file()
    assert run([COMMAND, "jar", "--spark", "4.1.4"]) == streamjoin.jar_path("4.1")
    assert run([COMMAND, "--version"]) == streamjoin.__version__
    assert main(["delta", "--spark", "4.1.4"]) == 0
    assert capsys.readouterr().out == "io.delta:delta-spark_4.1_2.13:4.4.0\n"


def test_delta_version_is_that_of_the_tests() -> None:
    build = (ROOT / "project" / "Delta.scala").read_text(encoding="utf-8")
    assert f'version = "{streamjoin.delta_package("4.2").rpartition(":")[2]}"' in build
    with pytest.raises(streamjoin.SetupError, match=r"Delta Lake 4\.4\.0 has no package for Spark"):
        streamjoin.delta_package("4.3.0")


def test_unsupported_spark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jar", "--spark", "3.5.9"]) == 1
    assert "the requested version is 3.5.9" in capsys.readouterr().err


def test_command_line_page_lists_every_command_and_option() -> None:
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    (commands,) = (a for a in _parser()._actions if a.dest == "command")
    assert isinstance(commands.choices, dict)
    assert set(commands.choices) == {*_PRINTED, *_COMMANDS}
    listed = set(re.findall(r"^\| `streamjoin (\w+)", page, re.MULTILINE))
    assert listed == set(commands.choices)
    rows = re.findall(r"^\| `(--[\w-]+)` \| ([^|]+) \|", page, re.MULTILINE)
    assert {(option, name) for option, of in rows for name in re.findall(r"\w+", of)} == {
        (option, name)
        for name, command in commands.choices.items()
        for action in command._actions
        for option in action.option_strings
        if option not in ("-h", "--help")
    }


@pytest.fixture
def in_session(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `main` run a command in the session of the tests."""
    monkeypatch.setattr(
        "streamjoin.__main__._with_spark", lambda asked, rows: print(*rows(asked, shop.session))
    )


@pytest.mark.usefixtures("in_session")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sources", "orders"], "--sources orders: write NEW=OLD, or NEW= for a new source"),
        (["--fill", "currency"], "--fill currency: write COLUMN=VALUE"),
        (["--rename", "amount"], "--rename amount: write OLD=NEW"),
        (["--query", "nojob:result"], "--query nojob:result: No module named 'nojob'"),
        (["--query", "os.nojob:result"], "--query os.nojob:result: No module named 'os.nojob'"),
        (["--query", "job"], "--query job: write MODULE:FUNCTION"),
        (["--query", ":result"], "--query :result: write MODULE:FUNCTION"),
        (["--query", "os:nothing"], "--query os:nothing: the module os has no function nothing"),
    ],
)
def test_wrong_argument_of_evolve_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evolve", "old", "new", "--query", "os:getenv", *arguments]) == 1
    assert capsys.readouterr().err.startswith(message)


@pytest.mark.usefixtures("in_session")
@pytest.mark.parametrize("content", ["import missing_part", "def result(spark):\n    1 / 0"])
def test_error_in_the_module_of_a_query_has_its_traceback(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_job.py").write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.delitem(sys.modules, "own_job", raising=False)
    with pytest.raises((ModuleNotFoundError, ZeroDivisionError)):
        main(["evolve", "old", "new", "--query", "own_job:result"])


@pytest.mark.usefixtures("in_session")
def test_error_of_java_is_printed_as_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pending", "nowhere://folder"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert 'No FileSystem for scheme "nowhere"' in line


def test_doctor_and_pending_print_what_the_functions_return(shop: Shop, joined: Run) -> None:
    checkpoint = str(joined.checkpoint)
    (seen,) = lines(shop, "doctor", checkpoint)
    assert seen == str(streamjoin.doctor(checkpoint))
    assert "2 rows of o wait" in seen
    rows = [json.loads(line) for line in lines(shop, "pending", checkpoint)]
    assert sorted(json.loads(row["row"])["id"] for row in rows) == [1, 2]
    (one,) = lines(shop, "pending", checkpoint, "--side", "left", "--limit", "1", "--batch", "0")
    assert json.loads(one)["row"]["id"] in (1, 2)


def test_watch_repeats_a_diagnosis_that_has_changed(shop: Shop, joined: Run) -> None:
    shown = lines(shop, "watch", str(joined.checkpoint), "--seconds", "0")
    assert "2 rows of o wait" in next(shown)
    shop.order((3, "10:20"))
    joined.step()
    assert "3 rows of o wait" in next(shown)


@pytest.mark.thorough
def test_commands_run_as_processes(joined: Run) -> None:
    assert "2 rows of o wait" in run([COMMAND, "doctor", str(joined.checkpoint)])
    module = [sys.executable, "-m", "streamjoin", "pending", str(joined.checkpoint)]
    assert len(run(module).splitlines()) == 2
