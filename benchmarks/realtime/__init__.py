"""Latency of single matches, and a query at a steady rate: ``python -m benchmarks.realtime``."""
