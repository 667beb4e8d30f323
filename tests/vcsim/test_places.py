"""Which pod takes the place of which."""

from seatrial.vcsim.places import Owner, Places, renaming_owner


def test_a_new_name_takes_the_place_of_the_oldest_pod_that_left_its_owner() -> None:
    places = Places()
    assert [places.enter(uid, "ns", uid, "set") for uid in ("a", "b")] == [None, None]
    places.leave("a", "set")
    places.leave("a", "set")
    places.leave("b", "set")
    assert [places.enter(uid, "ns", uid, "set") for uid in ("c", "d", "e")] == ["a", "b", None]


def test_places_of_one_owner_are_not_those_of_another() -> None:
    places = Places()
    places.enter("a", "ns", "a", "set")
    places.leave("a", "set")
    assert places.enter("b", "ns", "b", "other") is None


def test_a_name_that_is_given_again_keeps_its_place() -> None:
    places = Places()
    assert places.enter("first", "ns", "train-work-0", "") is None
    places.leave("first", "")
    assert places.enter("other", "ns", "train-work-1", "") is None
    assert places.enter("second", "ns", "train-work-0", "") == "first"


def test_only_controllers_that_choose_new_names_are_renaming() -> None:
    kinds = [("apps/v1", "ReplicaSet"), ("batch/v1", "Job"), ("batch.volcano.sh/v1alpha1", "Job"), ("v1", "Node")]
    found = [renaming_owner([Owner(version, kind, "x", "uid", controller=True)]) for version, kind in kinds]
    assert found == ["uid", "uid", "", ""]
    assert renaming_owner([Owner("apps/v1", "ReplicaSet", "x", "uid")]) == ""
