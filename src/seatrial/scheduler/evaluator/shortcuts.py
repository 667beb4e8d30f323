"""Which shortcuts the schedulers take. Without any it asks the plugins afresh for every pod (`PlainEvaluator`).

Each shortcut gives the same answers as none. The environment variable SEATRIAL_SHORTCUTS selects them for a whole
command: `all` (the default), `none`, or names separated by commas.
"""

import os
from dataclasses import dataclass, fields

from seatrial.model.errors import ConfigError

VARIABLE = "SEATRIAL_SHORTCUTS"


@dataclass(frozen=True, slots=True)
class Shortcuts:
    """The shortcuts that are on. The second to eighth work on kept columns, and switch those on."""

    columns: bool = True
    """keep filter verdicts and raw scores per pod shape, and ask only about changed rows"""
    feasible_index: bool = True
    """keep the positions of the nodes that pass, and read a search off them"""
    domain_index: bool = True
    """keep the nodes that also pass the checks of topology domains, and change the rows of domains judged otherwise"""
    first_of_shape: bool = True
    """ask about the nodes of the search only for the first pod of a shape, and make columns with the second"""
    single_rows: bool = True
    """ask for one changed row by `filter_row` and `score_row`"""
    shared_states: bool = True
    """share a plugin's column between shapes for which its state is the same, and all columns if the spec is"""
    rejections: bool = True
    """keep for each row the first filter that rejects it, and read explanations off that"""
    nominated: bool = True
    """keep the verdict on a node with the pods nominated to it, while neither they nor the row have changed"""
    failures: bool = True
    """repeat the outcome of a failed attempt for equal pods while nothing has changed"""
    dry_runs: bool = True
    """keep the outcome of preemption dry runs per node while its row has not changed"""
    hints: bool = True
    """ask a queueing hint about an event once for equal pods"""
    volcano_columns: bool = True
    """Volcano: keep the columns of a session, and compute only changed rows again"""
    volcano_jobs: bool = True
    """Volcano: keep jobs and tasks that a session has not changed, and pods as they were bound"""
    volcano_queues: bool = True
    """Volcano: order jobs by keys where all plugins have one"""
    volcano_creates: bool = True
    """Volcano: create Jobs, PodGroups and pods of one template without a document for each"""

    @property
    def keeps_columns(self) -> bool:
        return self.columns or any(getattr(self, name) for name in _ON_COLUMNS)


NAMES = tuple(field.name for field in fields(Shortcuts))
_ON_COLUMNS = NAMES[1:8]
ALL = Shortcuts()
NONE = Shortcuts(**dict.fromkeys(NAMES, False))


def only(*names: str) -> Shortcuts:
    """Just the named shortcuts."""
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise ConfigError(
            "environment", VARIABLE, f"expected all, none or some of {', '.join(NAMES)}, got {unknown[0]!r}"
        )
    return Shortcuts(**{name: name in names for name in NAMES})


def chosen_shortcuts() -> Shortcuts:
    """The shortcuts that the environment selects."""
    text = os.environ.get(VARIABLE, "").strip() or "all"
    if text == "all":
        return ALL
    return NONE if text == "none" else only(*(name.strip() for name in text.split(",")))
