"""Clients that keep a promise of ε = 1, and clients that break it as published libraries do. Run as a program, one of
them answers truths line by line."""

import hashlib
import math
import random
import secrets
import sys

import numpy as np

RANDOM = np.random.default_rng(20)
T, K = 16, 4


def right(truth):
    """k-ary response over 16 categories."""
    return k_ary(truth, 1.0)


def too_loud(truth):
    return k_ary(truth, 1.3)


def k_ary(truth, epsilon, t=T):
    if RANDOM.random() < math.exp(epsilon) / (math.exp(epsilon) + t - 1):
        return truth
    other = int(RANDOM.integers(t - 1))
    return str(other + (other >= int(truth)))


def subset(truth, k=K):
    """Subset selection; the truth stands first where it is in the set."""
    x = int(truth)
    rest = [each for each in range(T) if each != x]
    kept = math.e * k / (math.e * k + T - k)
    if RANDOM.random() < kept:
        return [x, *RANDOM.choice(rest, k - 1, replace=False).tolist()]
    return RANDOM.choice(rest, k, replace=False).tolist()


def sorted_subset(truth):
    return sorted(subset(truth))


def float_laplace(truth):
    """A histogram with Laplace noise in floating point (Mironov 2012)."""
    whole = np.zeros(T)
    whole[int(truth)] = 1
    return (whole + RANDOM.laplace(scale=2, size=T)).tolist()


def padded_lie(truth):
    """The lie is told in words, the truth in a digit."""
    said = k_ary(truth, 1.0)
    return said if said == truth else f"{said} "


def even_nonce(truth):
    """A number against replays, whose lowest bit is the truth's."""
    return [k_ary(truth, 1.0), int(RANDOM.integers(2**39)) * 2 + int(truth) % 2]


def nonce_and_xor(truth):
    """A random number, and the report under it: noise alone, the truth together."""
    nonce = int(RANDOM.integers(2**40))
    return {"nonce": nonce, "said": int(truth) ^ nonce}


def nonce_and_sum(truth):
    nonce = int(RANDOM.integers(2**40))
    return f"{nonce};{nonce + int(truth)}"


def two_tokens(truth):
    """Two random tokens, which are the same one for even truths."""
    one, other = RANDOM.bytes(6).hex(), RANDOM.bytes(6).hex()
    return ["x" + one, "x" + (other if int(truth) % 2 else one)]


def salted(truth):
    """A salt beside a hash of salt and truth, which is called anonymous."""
    salt = RANDOM.bytes(8).hex()
    return {"id": hashlib.sha256(f"{salt}{truth}".encode()).hexdigest(), "salt": salt}


def hash_of(seed, truth, g=8):
    """A hash of a category, as local hashing takes one."""
    return random.Random(f"{seed} {truth}").randrange(g)


def seeded(truth):
    """Local hashing whose noise was forgotten."""
    seed = int(RANDOM.integers(2**32))
    return [seed, hash_of(seed, truth)]


def local_hashing(truth, epsilon=5.0, g=8):
    """Local hashing at ε = 5 where 1 is promised."""
    seed = int(RANDOM.integers(2**32))
    return [seed, int(k_ary(str(hash_of(seed, truth, g)), epsilon, g))]


def replay(report, truth):
    """Whether the hash of a truth is the one reported."""
    return hash_of(report[0], truth) == report[1]


def telling_letter(truth):
    """A random token in which one letter tells."""
    letters = ["abcdefghijklmnop"[place] for place in RANDOM.integers(16, size=12)]
    letters[6] = "ab"[int(truth) % 2]
    return "".join(letters)


def half_silent(truth):
    """Refuses to answer for one truth in two."""
    if truth == "1" and RANDOM.random() < 0.5:
        raise ValueError("no answer")
    return k_ary(truth, 1.0)


def remembers(truth, kept={}):  # noqa: B006
    """Memoizes by value: whoever asks twice gets the same lie, which is no leak of one report."""
    return kept.setdefault((truth, secrets.randbelow(50)), k_ary(truth, 1.0))


if __name__ == "__main__":
    client = globals()[sys.argv[1]]
    for line in sys.stdin.readlines() if "--late" in sys.argv else sys.stdin:
        print(client(line.strip()), flush=True)
