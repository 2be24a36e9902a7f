import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import type { PluginAbility, PluginPermission } from '@headgate/plugin-sdk';
import type { IndexEntry } from '../format/plugin-index.js';
import { packArchive } from '../format/pack-archive.js';
import { signedStatement } from '../format/signature.js';

export interface TestPlugin {
  readonly name?: string;
  readonly version?: string;
  readonly apiVersion?: number;
  readonly ability?: PluginAbility;
  readonly permissions?: readonly PluginPermission[];
  /** The module that is run. */
  readonly code?: string;
}

/** A program that speaks the protocol: it answers `describe`, and `echo` with its parameters. */
export const serving = ({
  name = 'sample',
  version = '1.0.0',
  apiVersion = 1,
  ability = 'disk-builder',
}: TestPlugin = {}): string => `
const description = ${JSON.stringify({ name, version, apiVersion, ability })};
const methods = { describe: () => description, echo: (params) => params, ...globalThis.extraMethods };
const answer = async (line) => {
  const { id, method, params } = JSON.parse(line);
  try {
    process.stdout.write(JSON.stringify({ id, result: (await methods[method](params)) ?? null }) + '\\n');
  } catch (error) {
    process.stdout.write(JSON.stringify({ id, error: error.message }) + '\\n');
  }
};
let rest = '';
process.stdin.setEncoding('utf8').on('end', () => process.exit(0)).on('data', (text) => {
  const lines = (rest + text).split('\\n');
  rest = lines.pop();
  for (const line of lines) answer(line);
});
`;

/** The same program with more methods. */
export const servingWith = (methods: string, plugin: TestPlugin = {}): string =>
  `globalThis.extraMethods = ${methods};\n${serving(plugin)}`;

export function filesOf(plugin: TestPlugin = {}): Record<string, string> {
  const { name = 'sample', version = '1.0.0', apiVersion = 1, ability = 'disk-builder', permissions = [] } = plugin;
  const manifest = { schemaVersion: 1, name, description: `About ${name}`, version, apiVersion, ability };
  return {
    'plugin.json': JSON.stringify({ ...manifest, entry: 'main.mjs', permissions }),
    'main.mjs': plugin.code ?? serving(plugin),
  };
}

export const archiveOf = (plugin: TestPlugin = {}): Promise<Buffer> => packArchive(filesOf(plugin));

export const sha256Of = (archive: Buffer): string => `sha256:${createHash('sha256').update(archive).digest('hex')}`;

/** A publisher with a key that exists only during the test. */
export class TestPublisher {
  private readonly keys = generateKeyPairSync('ed25519');

  constructor(readonly name = 'acme') {}

  get publicKey(): KeyObject {
    return this.keys.publicKey;
  }

  /** As in the configuration. */
  get publicText(): string {
    return this.keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  }

  entry(archive: Buffer, { name = 'sample', version = '1.0.0', apiVersion = 1 }: TestPlugin = {}): IndexEntry {
    const digest = sha256Of(archive);
    const signature = sign(null, signedStatement({ name, version, digest }), this.keys.privateKey).toString('base64');
    const bytes = archive.length;
    return {
      name,
      description: `About ${name}`,
      version,
      apiVersion,
      digest,
      bytes,
      signature,
      url: `${name}.tar`,
      publisher: this.name,
    };
  }
}

export const indexOf = (...plugins: readonly object[]): string => JSON.stringify({ schemaVersion: 1, plugins });
