"""The signer of a CertificateSigningRequest is a domain and a path, with upstream's limits."""

import pytest

from seatrial.store.validation.cluster.certificates import create_causes

LABEL = "a" * 63
DOMAIN = ".".join([LABEL, LABEL, LABEL, "a" * 61])
RULE = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'"


def faults(signer: str) -> list[str]:
    causes = create_causes({"spec": {"signerName": signer, "request": "", "usages": ["client auth"]}})
    return [cause.message for cause in causes if cause.field == "spec.signerName"]


@pytest.mark.parametrize("signer", ["example.com/a", "example.com/a.b", f"{DOMAIN}/{'n' * 63}.{'r' * 253}"])
def test_a_domain_and_a_path_are_a_signer(signer: str) -> None:
    assert faults(signer) == []


def test_a_domain_has_two_segments() -> None:
    (fault,) = faults("example/a")
    assert fault.endswith("should be a domain with at least two segments separated by dots")


def test_a_label_of_the_domain_has_63_characters_at_most() -> None:
    (fault,) = faults(f"{LABEL}a.com/a")
    assert f'validating label "{LABEL}a": must be no more than 63' in fault


def test_only_the_first_bad_label_of_a_part_is_named() -> None:
    (fault,) = faults("Ex_a.C_m/a")
    assert f'validating label "Ex_a": {RULE}' in fault


def test_a_domain_has_253_characters_at_most() -> None:
    assert faults(f"{DOMAIN}a/a") == ["Too long: may not be more than 253 bytes"]


def test_a_signer_has_571_characters_at_most() -> None:
    assert faults(f"{DOMAIN}/{'n' * 64}.{'r' * 253}") == ["Too long: may not be more than 571 bytes"]
