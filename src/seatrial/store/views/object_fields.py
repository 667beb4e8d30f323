"""Parts of objects that views of several readers declare. Upstream: apimachinery/pkg/apis/meta/v1/types.go."""

import msgspec


class OwnerReference(msgspec.Struct, rename="camel", frozen=True):
    kind: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class Condition(msgspec.Struct, rename="camel", frozen=True):
    type: str = ""
    status: str = ""
    reason: str | None = None
    last_transition_time: str | None = None
