"""The benchmarks: workloads, engines, what a run is checked for, and how results are shown.

``jvm/`` has what is measured, one process a run; this package starts the processes, compares what
they emit, and turns their results into tables and plots. ``docs/internals/benchmarks.md`` says what
the workloads are and how to read the figures.
"""
