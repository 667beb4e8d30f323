"""One cycle of Volcano's scheduler: open a session, run the actions, close it. Upstream: pkg/scheduler/scheduler.go."""

from seatrial.volcano.actions.registry import ACTIONS
from seatrial.volcano.cache.cluster_info import ClusterInfo
from seatrial.volcano.config.scheduler_conf import SchedulerConf
from seatrial.volcano.framework.job_updater import SessionResult, close_session
from seatrial.volcano.framework.session import Session, SessionOptions
from seatrial.volcano.plugins.registry import PLUGINS


def open_session(uid: str, cluster: ClusterInfo, conf: SchedulerConf, options: SessionOptions | None = None) -> Session:
    """A session with its plugins at work."""
    session = Session(uid, cluster, conf, options)
    session.open(PLUGINS)
    return session


def run_actions(session: Session) -> SessionResult:
    """Runs the configured actions in order, and closes the session."""
    for name in session.conf.actions:
        session.action = name
        with session.measures.timed("action_scheduling_latency_milliseconds", name):
            ACTIONS[name](session)
    return close_session(session)


def run_once(
    uid: str, cluster: ClusterInfo, conf: SchedulerConf, options: SessionOptions | None = None
) -> tuple[Session, SessionResult]:
    """A whole cycle."""
    session = open_session(uid, cluster, conf, options)
    return session, run_actions(session)
