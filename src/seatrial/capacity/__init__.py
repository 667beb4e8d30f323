"""Capacity questions, answered by the exact scheduler: how many more pods fit, how many nodes a scenario needs."""
