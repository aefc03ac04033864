"""Files for the repository host and for pre-commit refer only to things that exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][\w-]*):(?!=)", makefile, re.MULTILINE))


def matrix() -> list[dict[str, str]]:
    jobs = read(ROOT / ".github" / "workflows" / "test.yml")["jobs"]
    cells: list[dict[str, str]] = jobs["test"]["strategy"]["matrix"]["include"]
    return cells


def steps() -> list[dict[str, Any]]:
    jobs = [job for workflow in WORKFLOWS for job in read(workflow)["jobs"].values()]
    return [step for job in jobs for step in job["steps"]]


def test_workflows_run_existing_make_targets_and_what_a_merge_runs() -> None:
    commands = [line for step in steps() for line in step.get("run", "").splitlines()]
    assert ".ci/run" in commands
    commands += (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    made = [t for command in commands for t in re.findall(r"\bmake ([\w-]+)", command)]
    assert {"test", "test-thorough", "release"} <= set(made)
    assert set(made) <= targets()


def test_actions_are_pinned_by_commit() -> None:
    actions = [step["uses"] for step in steps() if "uses" in step]
    assert actions
    assert [a for a in actions if not re.search(r"@[0-9a-f]{40}$", a)] == []


def test_workflow_matrix_covers_each_supported_python() -> None:
    project = (ROOT / "python" / "pyproject.toml").read_text(encoding="utf-8")
    classified = re.findall(r"Programming Language :: Python :: (3\.\d+)", project)
    assert sorted({cell["python"] for cell in matrix()}) == sorted(classified)
    assert {cell["java"] for cell in matrix()} == {"17", "21"}


def test_pre_commit_hooks_run_tools_of_the_project() -> None:
    (local,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local"
    required = (ROOT / "python" / "requirements-dev.txt").read_text(encoding="utf-8")
    for hook in local["hooks"]:
        tool = hook["entry"].split()[0]
        if tool.startswith(".venv/bin/"):
            assert re.search(rf"^{Path(tool).name}==", required, re.MULTILINE)
        else:
            assert (ROOT / tool).is_file()


def test_codeowners_paths_exist() -> None:
    lines = (ROOT / ".github" / "CODEOWNERS").read_text(encoding="utf-8").splitlines()
    paths = [line.split()[0] for line in lines if line and not line.startswith("#")]
    assert "*" in paths
    assert [path for path in paths if path != "*" and not (ROOT / path.strip("/")).exists()] == []
