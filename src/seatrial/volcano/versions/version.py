"""What a version of Volcano's scheduler does otherwise than others.

A version is a record. Actions and plugins read it from the configuration; none of them knows a version by its number.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that differ between versions. Defaults: the newest behaviour."""

    counts_releasing_tasks: bool = True
    """Tasks on their way out count as scheduled in the phase of a PodGroup and in the condition of its gang."""
    counts_jobs_let_in: bool = True
    """A job counts in a queue or quota once it is let in; before, when its plugin had nothing against it."""
    preempts_for_predicates: bool = True
    """preempt evicts until the predicates pass too, and not only until resources suffice."""
    limits_node_groups: bool = True
    """nodegroup keeps to the limits that a queue notes for each group of nodes."""
    tells_extenders_of_jobs_let_in: bool = True
    """An extender may have a verb for jobs that were let in."""
    scores_claims: bool = True
    """predicates scores nodes by DynamicResources."""
    has_newest_metrics: bool = True
    """There are metrics of what the jobs let in ask for, queue by queue, and of commits with evictions."""


@dataclass(frozen=True, slots=True)
class Version:
    """One version."""

    minor: str
    """As `--volcano-version` names it."""
    release: str
    """The release or commit whose answers are recorded."""
    kubernetes: str
    """The version of kube-scheduler whose filters and scores it is built with."""
    left_out: frozenset[str] = frozenset()
    """Plugins that work in another way in this version and are not simulated for it."""
    rules: Rules = Rules()
