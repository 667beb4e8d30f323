"""For all tests: random cases are the same in every run, and a busy machine is no failure."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
