"""Records what two Prio3 aggregators and their collector make of reports that naysay drew: prio3.json.

    npm install @divviup/prio3@0.8.0
    python tests/reference/make_prio3.py

The package is an implementation of draft-irtf-cfrg-vdaf-08. Keys, nonces and the randomness of the shares are fixed, so
that the same vectors come out again.
"""

import json
import subprocess
from pathlib import Path

import numpy as np

from naysay import designs

VDAF = """
import { Prio3Histogram, Prio3SumVec } from "@divviup/prio3";
import { createHash } from "node:crypto";
const bytes = (size, ...from) => createHash("shake128", { outputLength: size }).update(from.join()).digest();
const [type, length, chunkLength, measurements] = JSON.parse(process.argv[1]);
const Vdaf = type === "Prio3Histogram" ? Prio3Histogram : Prio3SumVec;
const vdaf = new Vdaf({ shares: 2, length, chunkLength, bits: 1 });
const each = (size, name) => measurements.map((_, i) => bytes(size, name, i));
const { agg_shares, agg_result, verify_key } = await vdaf.run({
  aggregationParameter: null, measurements, verifyKey: bytes(vdaf.verifyKeySize, "key"),
  nonces: each(vdaf.nonceSize, "nonce"), rands: each(vdaf.randSize, "rand"),
});
console.log(JSON.stringify({ agg_shares, agg_result: agg_result.map(Number), verify_key }));
"""


def vectors():
    """Reports of three designs, as Prio3 takes them, and what came out."""
    rng = np.random.default_rng(2016)
    for vdaf, design in (
        ("Prio3Histogram", designs.affine(8, epsilon=1)),
        ("Prio3SumVec", designs.unary(8, epsilon=2)),
        ("Prio3SumVec", designs.subset_selection(8, epsilon=1)),
    ):
        said = design.randomize(rng.choice(8, 300, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05, 0]), rng=rng)
        histogram = vdaf == "Prio3Histogram"
        measurements = (
            [int(text) for text in said.texts()]
            if histogram
            else design.space.statistic(said.codes).astype(int).tolist()
        )
        length = design.space.size if histogram else 8
        chunk = round(length**0.5)
        given = json.dumps([vdaf, length, chunk, measurements])
        command = ["node", "--input-type=module", "-e", VDAF, given]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        head = {"vdaf": vdaf, "shares": 2, "length": length, "chunk_length": chunk}
        yield head | {"design": json.loads(design.to_json()), "measurements": measurements} | found


if __name__ == "__main__":
    told = "[\n" + ",\n".join(json.dumps(each) for each in vectors()) + "\n]\n"
    Path(__file__).with_name("prio3.json").write_text(told, encoding="utf-8")
