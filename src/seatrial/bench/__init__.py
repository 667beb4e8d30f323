"""Benchmarks: scheduling throughput and memory, runs of scenarios, requests per second of the API server."""
