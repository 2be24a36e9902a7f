import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endProcess } from './end-process.js';
import { describeWhere, installedPeer } from './peers.js';
import { freePort, untilAccepting } from './ports.js';

/** The Python interpreter that has Synapse; undefined when it is not installed. */
export const synapsePython = installedPeer('synapse');

export const describeWithSynapse = describeWhere(synapsePython, 'synapse');

/** Rates of Synapse's own that no test reaches, so that every refusal comes from the gateway. */
const NEVER = { per_second: 1e6, burst_count: 1e6 };
const RATES = {
  rc_message: NEVER,
  rc_registration: NEVER,
  rc_login: { address: NEVER, account: NEVER, failed_attempts: NEVER },
  rc_joins: { local: NEVER, remote: NEVER },
  rc_joins_per_room: NEVER,
  rc_invites: { per_room: NEVER, per_user: NEVER, per_issuer: NEVER },
  rc_media_create: NEVER,
  max_pending_media_uploads: 1e6,
  rc_delayed_event_mgmt: NEVER,
  rc_room_creation: NEVER,
  rc_key_requests: NEVER,
  rc_3pid_validation: NEVER,
  rc_presence: { per_user: NEVER },
  rc_federation: { window_size: 1000, sleep_limit: 1e6, sleep_delay: 1, reject_limit: 1e6, concurrent: 100 },
};

export interface SynapseOptions {
  serverName?: string;
  /** The file with the certificate authorities of other servers. */
  caPath?: string;
  settings?: object;
  /** Whether `/_synapse/metrics` counts the requests. */
  hasMetrics?: boolean;
}

/** Synapse on a free port, with a database in a temporary folder. It limits nothing itself. */
export class Synapse {
  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
    readonly serverName: string,
    readonly url: string,
  ) {}

  static async start({
    serverName = 'b.example',
    caPath,
    settings = {},
    hasMetrics = false,
  }: SynapseOptions = {}): Promise<Synapse> {
    const folder = await mkdtemp(join(tmpdir(), 'limits-e2e-synapse-'));
    const port = await freePort();
    const federation = caPath === undefined ? {} : { federation_custom_ca_list: [caPath] };
    const config = { ...configOf(folder, port, serverName, hasMetrics), ...federation, ...settings };
    await writeFile(
      join(folder, 'signing.key'),
      `ed25519 a_test ${randomBytes(32).toString('base64').replace('=', '')}\n`,
    );
    await writeFile(join(folder, 'log.yaml'), JSON.stringify(logTo(join(folder, 'homeserver.log'))));
    // JSON is also YAML.
    await writeFile(join(folder, 'homeserver.yaml'), JSON.stringify(config));
    const args = ['-m', 'synapse.app.homeserver', '-c', join(folder, 'homeserver.yaml')];
    const child = spawn(synapsePython!, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    const synapse = new Synapse(child, folder, serverName, `http://127.0.0.1:${port}`);
    await untilAccepting(port, child).catch(async (error: unknown) => {
      await synapse.dispose();
      throw new Error(`Synapse did not start:\n${errors}`, { cause: error });
    });
    return synapse;
  }

  /** Its log so far. */
  log(): Promise<string> {
    return readFile(join(this.folder, 'homeserver.log'), 'utf8');
  }

  async dispose(): Promise<void> {
    await endProcess(this.process);
    await rm(this.folder, { recursive: true, force: true });
  }
}

const configOf = (folder: string, port: number, serverName: string, hasMetrics: boolean) => ({
  server_name: serverName,
  enable_metrics: hasMetrics,
  pid_file: join(folder, 'pid'),
  listeners: [
    {
      port,
      bind_addresses: ['127.0.0.1'],
      type: 'http',
      tls: false,
      x_forwarded: true,
      resources: [{ names: ['client', 'federation', 'openid', ...(hasMetrics ? ['metrics'] : [])], compress: false }],
    },
  ],
  database: { name: 'sqlite3', args: { database: join(folder, 'homeserver.db') } },
  log_config: join(folder, 'log.yaml'),
  media_store_path: join(folder, 'media'),
  signing_key_path: join(folder, 'signing.key'),
  macaroon_secret_key: randomBytes(16).toString('hex'),
  form_secret: randomBytes(16).toString('hex'),
  trusted_key_servers: [],
  suppress_key_server_warning: true,
  report_stats: false,
  enable_registration: true,
  enable_registration_without_verification: true,
  // Hashing takes most of the time of a login otherwise.
  bcrypt_rounds: 4,
  max_upload_size: '100M',
  max_event_delay_duration: '30d',
  federation_ip_range_blacklist: [],
  ip_range_blacklist: [],
  allow_public_rooms_over_federation: true,
  experimental_features: {
    msc3391_enabled: true,
    msc4140_max_delayed_events_per_user: 1_000_000,
    msc3814_enabled: true,
  },
  ...RATES,
});

const logTo = (filename: string) => ({
  version: 1,
  formatters: { plain: { format: '%(asctime)s %(levelname)s %(name)s %(message)s' } },
  handlers: { file: { class: 'logging.FileHandler', formatter: 'plain', filename } },
  root: { level: 'INFO', handlers: ['file'] },
  disable_existing_loggers: false,
});
