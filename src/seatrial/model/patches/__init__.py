"""The three patches of the Kubernetes API: JSON patch, merge patch and strategic merge patch.

Each takes a document that the caller hands over (parts of it and of the patch may be changed or shared) and returns the
patched one. What a patch asks wrongly is refused as the API server refuses it; where upstream fails with an internal
error over a bad patch, the answer here is 422 with upstream's text.
"""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.model.patches.json_patch import apply_json_patch
    from seatrial.model.patches.merge_patch import apply_merge_patch
    from seatrial.model.patches.refusals import PatchRefused, go_text
    from seatrial.model.patches.strategic import apply_strategic_patch
else:
    __getattr__, __dir__ = lazy_exports(__name__)
