"""The benchmarks: workloads, engines, the checks of a run, and its reports.

``jvm/`` has the measured code, one process for each run. This package starts the processes,
compares their output, and writes the results as tables and plots. ``docs/internals/benchmarks.md``
describes the workloads, and how to read the figures.
"""
