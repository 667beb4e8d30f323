"""Simulations in a user's cluster: the kinds of KEP-159 and KEP-184, their controllers and the scenario runner."""
