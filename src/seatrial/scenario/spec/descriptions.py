"""The descriptions of a Scenario's fields, which `kubectl explain` shows: by Struct, then by the name on the wire."""

from seatrial.model.kind_declaration import Descriptions
from seatrial.scenario.spec import kind

_API_VERSION = "Group and version of the kind, for example apps/v1."
_KIND = "Name of the kind, for example Deployment."

DESCRIPTIONS: Descriptions = {
    kind.Scenario: {
        "spec": "The operations of the scenario and the controllers that react to them.",
        "status": "The progress of the scenario and what it has recorded; written by the server.",
    },
    kind.ScenarioSpec: {
        "events": "The operations, as the first version of KEP-140 spells the field. Set either events or operations.",
        "operations": "The operations on the cluster, in any order; each names the step at which it is carried out.",
        "controllers": "The controllers that run between two operations, where they are not the usual ones.",
        "generators": "Templates for many operations; they are expanded when the Scenario is created.",
    },
    kind.Operation: {
        "id": "Name of the operation in the timeline; the server sets one where there is none.",
        "step": "The major step at which the operation is carried out; those of one step keep their order.",
        "operation": "Which of the operations is set: Create, Patch, Delete or Done. It may be left out.",
        "createOperation": "Creates an object.",
        "patchOperation": "Changes an object by a patch.",
        "deleteOperation": "Deletes an object.",
        "doneOperation": "Ends the scenario: it Succeeds at this step.",
    },
    kind.CreateOperation: {
        "object": "The object to create, with apiVersion, kind and metadata.",
        "createOptions": "Options of the create request.",
    },
    kind.PatchOperation: {
        "typeMeta": "The kind of the object to patch.",
        "objectMeta": "Name and namespace of the object to patch.",
        "patch": "The patch, as JSON or YAML text.",
        "patchType": "Media type of the patch; by default a strategic merge, and a merge for custom resources.",
        "subresource": "The part of the object to patch, for example status or scale; the object itself by default.",
        "patchOptions": "Options of the patch request.",
    },
    kind.DeleteOperation: {
        "typeMeta": "The kind of the object to delete.",
        "objectMeta": "Name and namespace of the object to delete.",
        "deleteOptions": "Options of the delete request.",
    },
    kind.DoneOperation: {"done": "The first version of KEP-140 sets it; false is recorded and has no effect."},
    kind.TypeMeta: {"apiVersion": _API_VERSION, "kind": _KIND},
    kind.ObjectMeta: {
        "name": "Name of the object.",
        "namespace": "Namespace of the object; default where the kind has namespaces and none is given.",
        "generateName": "Not used: an object is found by its name.",
        "selfLink": "Not used.",
        "uid": "Not used.",
        "resourceVersion": "Not used.",
        "generation": "Not used.",
        "creationTimestamp": "Not used.",
        "deletionTimestamp": "Not used.",
        "deletionGracePeriodSeconds": "Not used.",
        "labels": "Not used: an object is found by its name.",
        "annotations": "Not used.",
        "ownerReferences": "Not used.",
        "finalizers": "Not used.",
        "managedFields": "Not used.",
    },
    kind.CreateOptions: {
        "apiVersion": "Not used.",
        "kind": "Not used.",
        "dryRun": "All: the request is checked and nothing is stored.",
        "fieldManager": "The owner of the fields that the request sets, in metadata.managedFields.",
        "fieldValidation": "What becomes of unknown fields: Strict refuses them, Warn and Ignore drop them.",
    },
    kind.PatchOptions: {"force": "Whether an apply patch takes fields over from their owners."},
    kind.DeleteOptions: {
        "apiVersion": "Not used.",
        "kind": "Not used.",
        "gracePeriodSeconds": "Seconds until a pod is gone; 0 ends it at once. By default the pod's own.",
        "preconditions": "The object that is meant; another one of its name is not deleted.",
        "orphanDependents": "Deprecated, use propagationPolicy: whether dependents stay.",
        "propagationPolicy": "What becomes of dependents: Background and Foreground delete them, Orphan keeps them.",
        "dryRun": "All: the request is checked and nothing is deleted.",
        "ignoreStoreReadErrorWithClusterBreakingPotential": "Not used: every stored object can be read.",
    },
    kind.Preconditions: {
        "uid": "The uid that the object must have.",
        "resourceVersion": "The revision that the object must be at.",
    },
    kind.Generator: {
        "id": "Beginning of the ids of the operations that it makes.",
        "step": "The first step of its operations: a number, or a text such as ${=arrival // 60} that computes it.",
        "count": "How many operations it makes; by default one for each row of its source.",
        "start": "The number of its first copy, which the placeholder ${index} stands for.",
        "spread": "Deals the operations out over several steps; by default all are at one step.",
        "from": "A file with the rows or objects that its operations are made from.",
        "createOperation": "Template of a createOperation; texts in it may have placeholders.",
        "patchOperation": "Template of a patchOperation; texts in it may have placeholders.",
        "deleteOperation": "Template of a deleteOperation; texts in it may have placeholders.",
    },
    kind.Spread: {
        "steps": "Over how many steps the operations are dealt out, in equal shares.",
        "every": "The distance between two of these steps.",
    },
    kind.Source: {
        "file": "A file with objects, in YAML or JSON; the path is relative to the scenario's file.",
        "csv": "A file with rows, whose first line names the columns; the path is relative to the scenario's file.",
    },
    kind.Controllers: {
        "presimulationControllers": "Controllers that prepare the cluster before the simulated ones run: all others.",
        "simulationControllers": "The controllers that are simulated, for example the scheduler.",
    },
    kind.ControllerSet: {
        "enabled": "Controllers that run, one after the other in this order.",
        "disabled": "Controllers that do not run; the single name * means all.",
    },
    kind.ControllerName: {"name": "Name of the controller, for example deployment."},
}
