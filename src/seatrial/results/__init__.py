"""Results of a run: one reader for every input, frames, measures, explanations, comparison."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.results.explanation import Explanation, explain, find_pods, waiting_groups
    from seatrial.results.headlines import headline
    from seatrial.results.lifecycles import Lives, PodLife, Which
    from seatrial.results.measure import all_measures, find_measures, load_measures, own_measure
    from seatrial.results.pools import NO_POOL, pool_of
    from seatrial.results.result import Result
    from seatrial.results.run import Run
    from seatrial.results.tables import as_document
    from seatrial.results.waiting_reasons import Group, groups_of, waiting_document
    from seatrial.results.workloads import Workload, began_with_cluster, workloads_of
else:
    __getattr__, __dir__ = lazy_exports(__name__)
