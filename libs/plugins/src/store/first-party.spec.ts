import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SystemClock } from '@headgate/domain-contracts';
import { pluginContract } from '@headgate/plugin-sdk/testing';
import { parseManifest } from '../format/manifest.js';
import { sandboxedCommand } from '../run/sandboxed-command.js';
import { indexOf } from '../testing/build-plugin.js';
import { BUNDLED_PLUGINS } from './bundled-plugins.js';
import { IndexSource } from './index-source.js';

const library = join(import.meta.dirname, '../..');
const runTool = (tool: string, ...args: string[]): Promise<{ stdout: string }> =>
  promisify(execFile)(process.execPath, [join(library, 'tools', tool), ...args], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });

const folder = mkdtempSync(join(tmpdir(), 'headgate-first-party-'));
afterAll(() => rmSync(folder, { recursive: true }));

const bootc = BUNDLED_PLUGINS.find(({ name }) => name === 'bootc');

// With the same command as in the service: Node's permissions are those of the sandbox.
pluginContract('bootc, as it is bundled', () => {
  const files = bootc?.files ?? {};
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const manifest = parseManifest(files['plugin.json'] ?? '');
  const { program, args } = sandboxedCommand({ folder, entry: manifest.entry, workFolder: folder });
  const request = { image: 'registry.example.org/a:1', diskBytes: 1e10, hasAuthorizedKeys: false };
  return {
    ...manifest,
    command: [program, ...args],
    calls: [
      {
        method: 'planDisk',
        params: request,
        expect: (result) => {
          expect(result).toMatchObject({
            command: expect.arrayContaining(['bootc', '/headgate/disk.raw']) as string[],
          });
          expect(JSON.stringify(result)).not.toContain('authorized');
        },
      },
      {
        method: 'planDisk',
        params: { ...request, hasAuthorizedKeys: true },
        expect: (result) =>
          expect(JSON.stringify(result)).toContain('"--root-ssh-authorized-keys","/headgate/authorized_keys"'),
      },
    ],
  };
});

// Node runs TypeScript whose types can only be erased.
pluginContract('the example load-check', () => {
  const example = join(library, 'examples/load-check');
  const text = expect.any(String) as string;
  return {
    ...parseManifest(readFileSync(join(example, 'plugin.json'), 'utf8')),
    command: [process.execPath, join(example, 'main.ts')],
    calls: [
      {
        method: 'checks',
        params: {},
        expect: (result) =>
          expect(result).toEqual([
            { name: 'load', status: expect.stringMatching(/^(ok|warning)$/) as string, message: text, remedy: text },
          ]),
      },
    ],
  };
});

test('the bundled plugins are those of first-party/', async () => {
  await runTool('bundle.mjs', '--check');
});

test('a plugin that is packed and signed with the tool is accepted by a service that trusts its publisher', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const [key, out] = [join(folder, 'key.pem'), join(folder, 'load-check.tar')];
  writeFileSync(key, privateKey.export({ format: 'pem', type: 'pkcs8' }));
  const example = join(library, 'examples/load-check');
  const { stdout } = await runTool('pack.mjs', example, '--out', out, '--key', key, '--publisher', 'acme');
  const source = new IndexSource({
    url: 'https://plugins.example.org/index.json',
    publishers: new Map([['acme', publicKey]]),
    download: async ({ pathname }) =>
      pathname === '/index.json' ? Buffer.from(indexOf(JSON.parse(stdout) as object)) : readFileSync(out),
    clock: new SystemClock(),
  });
  const [offer] = await source.offers();
  expect(offer).toMatchObject({ name: 'load-check', publisher: 'acme' });
  expect(await offer?.fetch(new AbortController().signal)).toEqual(readFileSync(out));
});
