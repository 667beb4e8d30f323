"""Which fields a write to a part of an object can own."""

from seatrial.model.apply import fieldsets
from seatrial.model.kinds import Kind
from seatrial.store.registry.reset_fields import owned_fields

DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments", subresources=("status", "scale"))


def test_status_is_owned_through_its_subresource_only() -> None:
    main, status = owned_fields(DEPLOYMENT), owned_fields(DEPLOYMENT, "status")
    fields = fieldsets.from_paths([("f:spec", "f:replicas"), ("f:status", "f:replicas")])
    assert main(fields) == {"f:spec": {"f:replicas": {}}}
    assert status(fields) == {"f:status": {"f:replicas": {}}}
    resize = owned_fields(Kind("", "v1", "Pod", "pods"), "resize")
    container = ("f:spec", "f:containers", 'k:{"name":"c"}')
    wanted = (*container, "f:resources", "f:limits")
    assert list(fieldsets.paths(resize(fieldsets.from_paths([wanted, (*container, "f:image")])))) == [wanted]
