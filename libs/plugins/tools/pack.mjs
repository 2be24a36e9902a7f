// npm run plugins:pack -- FOLDER --out FILE --key PRIVATE.pem --publisher NAME [--url URL]
// Packs a plugin, signs it with an Ed25519 key, and prints its entry for an index.
import { createHash, createPrivateKey, sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { packArchive } from '../src/format/pack-archive.ts';
import { signedStatement } from '../src/format/signature.ts';
import { readPlugin } from './read-plugin.mjs';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string' },
    key: { type: 'string' },
    publisher: { type: 'string' },
    url: { type: 'string' },
  },
});
const [folder] = positionals;
const { out, key, publisher } = values;
if (folder === undefined || out === undefined || key === undefined || publisher === undefined) {
  process.stderr.write(
    'Usage: npm run plugins:pack -- FOLDER --out FILE --key PRIVATE.pem --publisher NAME [--url URL]\n',
  );
  process.exit(2);
}

const files = readPlugin(folder);
const { name, description, version, apiVersion } = JSON.parse(files['plugin.json']);
const archive = await packArchive(files);
const digest = `sha256:${createHash('sha256').update(archive).digest('hex')}`;
const signature = sign(null, signedStatement({ name, version, digest }), createPrivateKey(readFileSync(key)));
writeFileSync(out, archive);
const entry = {
  name,
  description,
  version,
  apiVersion,
  url: values.url ?? basename(out),
  digest,
  bytes: archive.length,
  publisher,
  signature: signature.toString('base64'),
};
process.stdout.write(`${JSON.stringify(entry, undefined, 2)}\n`);
