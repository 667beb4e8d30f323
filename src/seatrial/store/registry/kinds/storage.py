"""Strategies of the kinds in storage.k8s.io."""

from seatrial.store.printers.cells import at, items, text
from seatrial.store.printers.cluster import CREATED_AT, csi_driver_cells, storage_class_cells
from seatrial.store.printers.columns import Columns, columns, plain
from seatrial.store.registry.strategy import Strategy, Validation
from seatrial.store.validation.storage import storage

STRATEGIES = {
    ("storage.k8s.io", "CSIDriver"): Strategy(
        needs_resource_version=True,
        delete_returns_object=True,
        columns=Columns(
            columns(
                "Name AttachRequired:boolean PodInfoOnMount:boolean StorageCapacity:boolean TokenRequests "
                "RequiresRepublish:boolean Modes Age"
            ),
            csi_driver_cells,
        ),
    ),
    ("storage.k8s.io", "CSINode"): Strategy(
        needs_resource_version=True,
        delete_returns_object=True,
        validation=Validation(storage.node_causes, storage.node_update_causes),
        columns=plain("Name Drivers:integer Age", lambda o: [len(items(o, "spec", "drivers"))]),
    ),
    ("storage.k8s.io", "CSIStorageCapacity"): Strategy(
        needs_resource_version=True,
        columns=CREATED_AT,
    ),
    ("storage.k8s.io", "StorageClass"): Strategy(
        delete_returns_object=True,
        validation=Validation(storage.class_causes, storage.class_update_causes),
        columns=Columns(
            columns("Name Provisioner ReclaimPolicy VolumeBindingMode AllowVolumeExpansion Age"), storage_class_cells
        ),
    ),
    ("storage.k8s.io", "VolumeAttachment"): Strategy(
        needs_resource_version=True,
        delete_returns_object=True,
        status_keeps_metadata=True,
        columns=plain(
            "Name Attacher PV Node Attached:boolean Age",
            lambda o: [
                text(o, "spec", "attacher"),
                text(o, "spec", "source", "persistentVolumeName"),
                text(o, "spec", "nodeName"),
                bool(at(o, "status", "attached")),
            ],
        ),
    ),
    ("storage.k8s.io", "VolumeAttributesClass"): Strategy(
        delete_returns_object=True, columns=plain("Name DriverName Age", lambda o: [text(o, "driverName")])
    ),
}
