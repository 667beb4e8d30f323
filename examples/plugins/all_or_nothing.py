"""The pods of a group start together: each is held until as many of them have a place as the group needs.

A pod says `group: NAME` and `group-size: "N"` in its labels. Whoever completes the group lets the others go.
"""

from seatrial.plugins import NodeInfo, Plugin, PodInfo, Wait

SECOND = 1_000_000


class AllOrNothing(Plugin):
    def permit(self, pod: PodInfo, node: NodeInfo, state: object) -> Wait | None:
        group = pod.labels.get("group")
        if group is None:
            return None
        held = [one for one in self.handle.shared["waiting_pods"] if one.pod.labels.get("group") == group]
        if len(held) + 1 < int(pod.labels["group-size"]):
            return Wait(self.args.get("seconds", 60) * SECOND)
        for one in held:
            one.allow(self.name)
        return None

    def unreserve(self, pod: PodInfo, node: NodeInfo, state: object) -> None:
        """One pod of the group lost its place: the others give theirs back."""
        group = pod.labels.get("group")
        for one in self.handle.shared["waiting_pods"]:
            if group is not None and one.pod.labels.get("group") == group:
                one.reject(self.name, f"group {group} is not complete")
