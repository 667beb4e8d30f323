"""`vcsimctl`: simulated clusters for the Volcano scheduler, and throughput tests on them.

The seed is the design document of volcano-sh/volcano#4459.
"""
