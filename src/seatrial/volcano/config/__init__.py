"""Volcano's scheduler configuration: actions, tiers of plugins and their arguments. Upstream: pkg/scheduler/conf."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.volcano.config.files import read_conf
    from seatrial.volcano.config.scheduler_conf import SchedulerConf, helm_conf, load_conf
else:
    __getattr__, __dir__ = lazy_exports(__name__)
