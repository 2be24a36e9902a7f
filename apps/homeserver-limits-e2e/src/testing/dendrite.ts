import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endProcess } from './end-process.js';
import { describeWhere, installedPeer } from './peers.js';
import { freePort, untilAccepting } from './ports.js';

/** The program; undefined when it is not installed. */
export const dendriteProgram = installedPeer('dendrite');

export const describeWithDendrite = describeWhere(dendriteProgram, 'dendrite');

export interface DendriteOptions {
  serverName?: string;
  /** Where spans of the requests are sent, as `127.0.0.1:PORT`; nowhere when left out. */
  spansTo?: string;
}

/** Dendrite on a free port, with databases of SQLite in a temporary folder. It limits nothing itself. */
export class Dendrite {
  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
    readonly serverName: string,
    readonly url: string,
  ) {}

  static async start({ serverName = 'b.example', spansTo }: DendriteOptions = {}): Promise<Dendrite> {
    const folder = await mkdtemp(join(tmpdir(), 'limits-e2e-dendrite-'));
    const port = await freePort();
    await writeFile(join(folder, 'key.pem'), signingKey());
    // JSON is also YAML.
    await writeFile(join(folder, 'dendrite.yaml'), JSON.stringify(configOf(folder, serverName, spansTo)));
    const address = `127.0.0.1:${port}`;
    const args = ['-config', join(folder, 'dendrite.yaml'), '-http-bind-address', address];
    // Its databases are in the working directory where the configuration does not name them.
    const child = spawn(dendriteProgram!, [...args, '-really-enable-open-registration'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    const dendrite = new Dendrite(child, folder, serverName, `http://${address}`);
    await untilAccepting(port, child).catch(async (error: unknown) => {
      await dendrite.dispose();
      throw new Error(`Dendrite did not start:\n${errors}`, { cause: error });
    });
    return dendrite;
  }

  async dispose(): Promise<void> {
    await endProcess(this.process);
    await rm(this.folder, { recursive: true, force: true });
  }
}

const signingKey = (): string =>
  '-----BEGIN MATRIX PRIVATE KEY-----\nKey-ID: ed25519:test\n\n' +
  `${randomBytes(32).toString('base64')}\n-----END MATRIX PRIVATE KEY-----\n`;

function configOf(folder: string, serverName: string, spansTo: string | undefined) {
  const database = (name: string) => ({ connection_string: `file:${join(folder, name)}.db` });
  return {
    version: 2,
    global: {
      server_name: serverName,
      private_key: join(folder, 'key.pem'),
      cache: { max_size_estimated: '16mb', max_age: '1h' },
      jetstream: { storage_path: join(folder, 'jetstream'), topic_prefix: 'Dendrite' },
      trusted_third_party_id_servers: [],
    },
    client_api: { registration_disabled: false, guests_disabled: false, rate_limiting: { enabled: false } },
    federation_api: {
      database: database('federation'),
      key_perspectives: [],
      deny_networks: [],
      allow_networks: ['0.0.0.0/0'],
    },
    key_server: { database: database('keys') },
    media_api: {
      database: database('media'),
      base_path: join(folder, 'media'),
      max_file_size_bytes: 100 * 1024 * 1024,
    },
    mscs: { database: database('mscs') },
    relay_api: { database: database('relay') },
    room_server: { database: database('rooms') },
    sync_api: { database: database('sync') },
    // Hashing takes most of the time of a login otherwise.
    user_api: { account_database: database('accounts'), bcrypt_cost: 4 },
    ...(spansTo !== undefined && { tracing: tracingTo(spansTo) }),
    logging: [{ type: 'std', level: 'error' }],
  };
}

/** Each request has a span with the name of its endpoint. */
const tracingTo = (agent: string) => ({
  enabled: true,
  jaeger: {
    serviceName: 'dendrite',
    sampler: { type: 'const', param: 1 },
    reporter: { localAgentHostPort: agent, bufferFlushInterval: 20_000_000 },
  },
});
