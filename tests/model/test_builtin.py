"""Which kinds are built in, and what discovery says of them."""

from seatrial.model.builtin import builtin_kinds, kubernetes_version
from tests.known_kinds import known_kind


def test_pods_are_as_discovery_lists_them() -> None:
    pod = known_kind(builtin_kinds(), "v1", "Pod")
    assert (pod.plural, pod.singular, pod.short_names, pod.categories) == ("pods", "pod", ("po",), ("all",))
    assert pod.namespaced
    assert {"binding", "eviction", "ephemeralcontainers", "log", "resize", "status"} <= set(pod.subresources)


def test_a_subresource_may_speak_a_kind_of_another_group() -> None:
    deployment = known_kind(builtin_kinds(), "apps/v1", "Deployment")
    scale = deployment.subresource("scale")
    assert scale is not None
    assert (scale.api_version, scale.kind) == ("autoscaling/v1", "Scale")
    status = deployment.subresource("status")
    assert status is not None
    assert (status.api_version, status.kind) == ("apps/v1", "Deployment")


def test_the_preferred_version_of_a_group_comes_first() -> None:
    versions = [kind.version for kind in builtin_kinds() if kind.kind == "HorizontalPodAutoscaler"]
    assert versions == ["v2", "v1"]


def test_only_what_is_on_by_default_is_served() -> None:
    kinds = builtin_kinds()
    assert {kind.version for kind in kinds} == {"v1", "v2"}
    assert kinds.resource("resource.k8s.io", "v1", "resourceclaims")
    assert kinds.resource("resource.k8s.io", "v1beta1", "resourceclaims") is None
    assert kinds.resource("apiextensions.k8s.io", "v1", "customresourcedefinitions")
    assert kinds.resource("apiregistration.k8s.io", "v1", "apiservices")


def test_each_caller_gets_a_registry_of_its_own() -> None:
    mine = builtin_kinds()
    for kind in list(mine):
        mine.remove(kind)
    assert list(builtin_kinds())


def test_the_release_is_known() -> None:
    assert kubernetes_version() == "v1.36.3"
