// The function behind invitations as the page has it, for tests: recorded chance in, what came out.
import { pathToFileURL } from "node:url";

const { bytesToHex, hexToBytes, voprf } = await import(pathToFileURL(process.argv[3]));

/** Chance of which a scalar below the group's order becomes itself. */
const recorded = (scalar) => (size) => {
  // The library takes 48 bytes, little endian, modulo the order less one, and adds one.
  const octets = new Uint8Array(size);
  octets.set(hexToBytes(scalar));
  octets[0] -= 1; // no scalar of the vectors ends in 00
  return octets;
};

const TASKS = {
  rfc: ({ seed, key_info, key, public: known, vectors }) => ({
    key: bytesToHex(voprf.deriveKeyPair(hexToBytes(seed), hexToBytes(key_info)).secretKey),
    vectors: vectors.map((case_) => {
      const input = hexToBytes(case_.input);
      const { blind, blinded } = voprf.blind(input, recorded(case_.blind));
      const pair = [hexToBytes(key), hexToBytes(known)];
      const { evaluated, proof } = voprf.blindEvaluate(...pair, blinded, recorded(case_.nonce));
      const output = voprf.finalize(input, blind, evaluated, blinded, pair[1], proof);
      return Object.fromEntries(Object.entries({ blind, blinded, evaluated, proof, output }).map(([name, bytes]) => [name, bytesToHex(bytes)]));
    }),
  }),
  draw: ({ input }) => {
    const { blind, blinded } = voprf.blind(hexToBytes(input));
    return { blind: bytesToHex(blind), blinded: bytesToHex(blinded) };
  },
  finish: ({ input, blind, blinded, evaluated, proof, key }) => {
    try {
      return bytesToHex(voprf.finalize(...[input, blind, evaluated, blinded, key, proof].map(hexToBytes)));
    } catch (error) {
      return error.message;
    }
  },
};

const given = JSON.parse(await new Response(process.stdin).text());
process.stdout.write(JSON.stringify(TASKS[process.argv[2]](given)));
