import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildServer, freePort } from '../api-server/child-server.js';
import { findPeer } from '../api-server/find-peer.js';
import { LocalNames } from './local-names.js';
import { createTestCertificate, hasOpenssl } from './test-certificate.js';

export interface PebbleOptions {
  /** Names that lead to 127.0.0.1. */
  readonly names: readonly string[];
  /** Names for which it issues nothing. */
  readonly blocked?: readonly string[];
  /** Where it sends http-01 challenges. */
  readonly httpPort: number;
  /** Where it sends tls-alpn-01 challenges. */
  readonly tlsPort: number;
  /** The keys of external accounts by their IDs. With them, an account needs one. */
  readonly externalAccounts?: Readonly<Record<string, string>>;
  /** How many valid nonces it refuses, in percent. */
  readonly badNonces?: number;
  /** How long its certificates are valid, in seconds. */
  readonly validitySeconds?: number;
}

const MISSING = 'pebble is not installed (node tools/peers/install.mjs pebble)';

/** `describe` if Pebble and openssl are installed; otherwise skipped, with the reason in the title. */
export function describeOnPebble(title: string, suite: () => void): void {
  const why = findPeer('pebble') === undefined ? MISSING : hasOpenssl() ? undefined : 'openssl is not installed';
  if (why === undefined) describe(title, suite);
  else describe.skip(`${title}: ${why}`, suite);
}

/** Pebble, the test authority of Let's Encrypt, as a process with its own folder and names. */
export class PrivatePebble {
  private constructor(
    private readonly folder: string,
    private readonly server: ChildServer,
    readonly names: LocalNames,
    private readonly ports: { readonly api: number; readonly management: number },
    /** The certificate of its directory. */
    readonly trusted: string,
  ) {}

  static async start(options: PebbleOptions): Promise<PrivatePebble> {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-pebble-'));
    const { cert } = createTestCertificate(folder, 'directory');
    const [names, api, management] = [await LocalNames.listen(options.names), await freePort(), await freePort()];
    const pebble = {
      listenAddress: `127.0.0.1:${api}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: join(folder, 'directory.pem'),
      privateKey: join(folder, 'directory.key'),
      httpPort: options.httpPort,
      tlsPort: options.tlsPort,
      ocspResponderURL: '',
      externalAccountBindingRequired: options.externalAccounts !== undefined,
      externalAccountMACKeys: options.externalAccounts ?? {},
      domainBlocklist: options.blocked ?? [],
      retryAfter: { authz: 1, order: 1 },
      profiles: { default: { description: 'test', validityPeriod: options.validitySeconds ?? 7_776_000 } },
      keyAlgorithm: 'ecdsa',
    };
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ pebble }));
    const args = ['-strict', '-config', join(folder, 'config.json'), '-dnsserver', `127.0.0.1:${names.port}`];
    const server = new ChildServer(findPeer('pebble') ?? '', args, () => answers(api, cert), {
      ...process.env,
      PEBBLE_VA_NOSLEEP: '1',
      PEBBLE_AUTHZREUSE: '0',
      PEBBLE_WFE_NONCEREJECT: String(options.badNonces ?? 0),
    });
    const started = new PrivatePebble(folder, server, names, { api, management }, cert);
    try {
      await server.start();
      return started;
    } catch (error) {
      await started.stop();
      throw error;
    }
  }

  get directory(): string {
    return `https://localhost:${this.ports.api}/dir`;
  }

  /** The root of the certificates that it issues, in PEM. */
  root(): Promise<string> {
    return get(this.ports.management, '/roots/0', this.trusted);
  }

  /** It forgets all accounts and certificates. */
  async restart(): Promise<void> {
    await this.server.kill();
    await this.server.start();
  }

  async stop(): Promise<void> {
    await this.server.kill();
    await this.names.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const answers = (port: number, ca: string): Promise<boolean> =>
  get(port, '/dir', ca).then(
    () => true,
    () => false,
  );

function get(port: number, path: string, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: 'localhost', port, path, ca, agent: false }, (response) => {
      let text = '';
      response.on('data', (data: Buffer) => (text += String(data))).on('end', () => resolve(text));
    });
    outgoing.on('error', reject).end();
  });
}
