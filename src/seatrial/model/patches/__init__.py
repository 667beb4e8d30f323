"""The three patches of the Kubernetes API: JSON patch, merge patch and strategic merge patch.

Each takes a document that the caller hands over (parts of it and of the patch may be changed or shared) and returns the
patched one. What a patch asks wrongly is refused as the API server refuses it; where upstream fails with an internal
error over a bad patch, the answer here is 422 with upstream's text.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.model.patches.json_patch import apply_json_patch
    from seatrial.model.patches.merge_patch import apply_merge_patch
    from seatrial.model.patches.refusals import PatchRefused, go_text
    from seatrial.model.patches.strategic import apply_strategic_patch

__all__ = ["PatchRefused", "apply_json_patch", "apply_merge_patch", "apply_strategic_patch", "go_text"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "PatchRefused": "refusals",
            "apply_json_patch": "json_patch",
            "apply_merge_patch": "merge_patch",
            "apply_strategic_patch": "strategic",
            "go_text": "refusals",
        },
    )
