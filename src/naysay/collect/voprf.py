"""A verifiable oblivious pseudorandom function: RFC 9497, ristretto255-SHA512, one element at a time.

The holder of a key computes a function of an input that it does not see, and proves that it used the published key. The
group operations are libsodium's. What is composed of them here is held to the vectors of the RFC's appendix A.1.2.
"""

from __future__ import annotations

import hashlib

import rbcl

from naysay.collect.survey.published import SUITE
from naysay.errors import DataError

ELEMENT, PROOF, OUTPUT = 32, 64, 64
"""Bytes of an element of the group, of a proof, and of the function's value."""

_CONTEXT = b"OPRFV1-\x01-" + SUITE.encode()  # 0x01 is the verifiable mode


def public(key: bytes) -> bytes:
    """The public half of a key: k B, with the group's generator B."""
    return bytes(rbcl.crypto_scalarmult_ristretto255_base(key))


def blinded(data: bytes, blind: bytes) -> bytes:
    """What a device sends in place of its input: r H(input). For a random r it tells nothing about the input."""
    return bytes(rbcl.crypto_scalarmult_ristretto255(blind, _element(data)))


def evaluated(key: bytes, element: bytes) -> bytes:
    """The function of a blinded input: k times the element.

    Raises
    ------
    DataError
        The bytes encode no element, or the identity.
    """
    return bytes(rbcl.crypto_scalarmult_ristretto255(key, _valid_element(element)))


def proved(key: bytes, element: bytes, value: bytes, *, nonce: bytes | None = None) -> bytes:
    """A proof that `value` is the element times the same key of which `public` is the public half.

    Parameters
    ----------
    key, element, value : bytes
    nonce : bytes, optional
        A random scalar; by default a fresh one. It is given by tests alone: with a nonce twice, the key is known.
    """
    nonce = nonce or bytes(rbcl.crypto_core_ristretto255_scalar_random())
    public_key = public(key)
    joint_element, _ = _composites(public_key, element, value)
    joint_value = bytes(rbcl.crypto_scalarmult_ristretto255(key, joint_element))
    commitments = (
        rbcl.crypto_scalarmult_ristretto255_base(nonce),
        rbcl.crypto_scalarmult_ristretto255(nonce, joint_element),
    )
    challenge = _challenge(public_key, joint_element, joint_value, *map(bytes, commitments))
    answer = rbcl.crypto_core_ristretto255_scalar_sub(nonce, rbcl.crypto_core_ristretto255_scalar_mul(challenge, key))
    return challenge + bytes(answer)


def finalized(data: bytes, blind: bytes, value: bytes, proof: bytes, public: bytes) -> bytes:
    """The function's value for an input, as a device finds it behind the blind, once the proof holds.

    Raises
    ------
    DataError
        The proof does not hold: another key was used than the public one.
    """
    element = blinded(data, blind)
    if not _holds(proof, element, _valid_element(value), _valid_element(public)):
        raise DataError("the invitation was not signed with the key that the survey publishes; do not answer it")
    unblinded_element = rbcl.crypto_scalarmult_ristretto255(rbcl.crypto_core_ristretto255_scalar_invert(blind), value)
    return _value(data, bytes(unblinded_element))


def output(key: bytes, data: bytes) -> bytes:
    """The function's value for an input, as the holder of the key finds it.

    Examples
    --------
    >>> key, blind = bytes([3]) + bytes(31), bytes([5]) + bytes(31)
    >>> value = evaluated(key, element := blinded(b"drawn", blind))
    >>> finalized(b"drawn", blind, value, proved(key, element, value), public(key)) == output(key, b"drawn")
    True
    """
    return _value(data, bytes(rbcl.crypto_scalarmult_ristretto255(key, _element(data))))


def _value(data: bytes, element: bytes) -> bytes:
    return hashlib.sha512(_framed(data) + _framed(element) + b"Finalize").digest()


def _valid_element(element: bytes) -> bytes:
    if len(element) != ELEMENT or not any(element) or not rbcl.crypto_core_ristretto255_is_valid_point(element):
        raise DataError(f"an element of {SUITE} must be {ELEMENT} bytes that encode one, and not the identity")
    return element


def _holds(proof: bytes, element: bytes, value: bytes, public: bytes) -> bool:
    challenge, answer = proof[:32], proof[32:]
    if len(proof) != PROOF or any(_reduced(scalar + bytes(32)) != scalar for scalar in (challenge, answer)):
        return False
    joint_element, joint_value = _composites(public, element, value)
    element_pairs = (None, public), (joint_element, joint_value)
    return challenge == _challenge(
        public, joint_element, joint_value, *(_sum(answer, one, challenge, other) for one, other in element_pairs)
    )


def _sum(a: bytes, one: bytes | None, b: bytes, other: bytes) -> bytes:
    """The element a·one + b·other; None stands for the generator. A scalar of zero is no error here."""
    first_product = _times(a, one)
    return bytes(rbcl.crypto_core_ristretto255_add(first_product, _times(b, other)))


def _times(scalar: bytes, element: bytes | None) -> bytes:
    if element is None:
        return bytes(rbcl.crypto_scalarmult_ristretto255_base_allow_scalar_zero(scalar))
    return bytes(rbcl.crypto_scalarmult_ristretto255_allow_scalar_zero(scalar, element))


def _composites(public: bytes, element: bytes, value: bytes) -> tuple[bytes, bytes]:
    """Element and value times a weight that depends on both: the RFC's way to prove several at once, for one."""
    seed = hashlib.sha512(_framed(public) + _framed(b"Seed-" + _CONTEXT)).digest()
    weight = _scalar(_framed(seed) + bytes(2) + _framed(element) + _framed(value) + b"Composite")
    return _times(weight, element), _times(weight, value)


def _challenge(*elements: bytes) -> bytes:
    return _scalar(b"".join(map(_framed, elements)) + b"Challenge")


def _framed(data: bytes) -> bytes:
    return len(data).to_bytes(2) + data


def _element(data: bytes) -> bytes:
    return bytes(rbcl.crypto_core_ristretto255_from_hash(_expanded(data, b"HashToGroup-" + _CONTEXT)))


def _scalar(data: bytes) -> bytes:
    return _reduced(_expanded(data, b"HashToScalar-" + _CONTEXT))


def _reduced(number: bytes) -> bytes:
    return bytes(rbcl.crypto_core_ristretto255_scalar_reduce(number))


def _expanded(data: bytes, domain: bytes) -> bytes:
    """64 uniform bytes: expand_message_xmd of RFC 9380 with SHA-512, whose first block is all that is needed."""
    domain += len(domain).to_bytes(1)
    first_block = hashlib.sha512(bytes(128) + data + (64).to_bytes(2) + bytes(1) + domain).digest()
    return hashlib.sha512(first_block + b"\x01" + domain).digest()
