import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ChildServer, freePort } from './child-server.js';
import { findPeer } from './find-peer.js';

export interface RealApiServerOptions {
  /** Further options of kube-apiserver, or other values for the usual ones: the last value counts. */
  readonly flags?: readonly string[];
}

export interface RealAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface RealRequest {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const MAX_ATTEMPTS = 5;
const TOKEN_SECONDS = 3600;

/**
 * A kube-apiserver with an etcd of its own on loopback ports, with RBAC. There are no controllers: no namespace gets a
 * service account, none that is deleted disappears, and no object is collected as garbage.
 */
export class RealApiServer {
  private constructor(
    readonly etcd: ChildServer,
    readonly server: ChildServer,
    private readonly ports: Ports,
    private readonly folder: string,
    private readonly certificate: () => string,
    /** The token of a user in `system:masters`. */
    readonly adminToken: string,
  ) {}

  /** Whether its programs are installed. */
  static get isInstalled(): boolean {
    return programs() !== undefined;
  }

  /** Starts one on free ports, or on others when another process has taken them in the meantime. */
  static async start(options: RealApiServerOptions = {}): Promise<RealApiServer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await RealApiServer.startOnce(options);
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !/address already in use/.test(String(error))) throw error;
      }
    }
  }

  private static async startOnce({ flags = [] }: RealApiServerOptions): Promise<RealApiServer> {
    const found = programs();
    if (!found) throw new Error(MISSING);
    const folder = await mkdtemp(join(tmpdir(), 'headgate-apiserver-'));
    await chmod(folder, 0o700);
    const ports = { client: await freePort(), peer: await freePort(), api: await freePort() };
    const adminToken = randomBytes(16).toString('hex');
    await writeFile(join(folder, 'tokens.csv'), `${adminToken},admin,admin,"system:masters"\n`);
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    await writeFile(join(folder, 'accounts.key'), privateKey);
    await writeFile(join(folder, 'accounts.pub'), publicKey);
    let certificate = '';
    const etcd = new ChildServer(found.etcd, etcdOptions(folder, ports), () => isHealthy(ports.client));
    const server = new ChildServer(found.apiServer, [...serverOptions(folder, ports), ...flags], async () => {
      // It signs its certificate itself, before it listens.
      certificate = await readFile(join(folder, 'certificates/apiserver.crt'), 'utf8').catch(() => '');
      if (certificate === '') return false;
      const answer = await send(ports.api, certificate, 'GET', '/readyz', { token: adminToken }).catch(() => undefined);
      return answer?.status === 200;
    });
    const started = new RealApiServer(etcd, server, ports, folder, () => certificate, adminToken);
    try {
      await etcd.start();
      await server.start();
      return started;
    } catch (error) {
      await started.close();
      throw error;
    }
  }

  get url(): string {
    return `https://127.0.0.1:${this.ports.api}`;
  }

  /** A kubeconfig of the administrator, or of the bearer of another token. */
  kubeconfig(token = this.adminToken): string {
    const authority = Buffer.from(this.certificate()).toString('base64');
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'real', cluster: { server: this.url, 'certificate-authority-data': authority } }],
      users: [{ name: 'user', user: { token } }],
      contexts: [{ name: 'real', context: { cluster: 'real', user: 'user' } }],
      'current-context': 'real',
    });
  }

  /** Sends one request, by default as the administrator. A body that is not a string is sent as JSON. */
  send(method: string, path: string, body?: unknown, request: RealRequest = {}): Promise<RealAnswer> {
    return send(this.ports.api, this.certificate(), method, path, { token: this.adminToken, ...request }, body);
  }

  /** @returns the object. @throws Error with the response when it is not created */
  async create(path: string, object: object): Promise<Record<string, unknown>> {
    const answer = await this.send('POST', path, object);
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text) as Record<string, unknown>;
  }

  async createNamespace(name: string): Promise<void> {
    await this.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }

  /** Creates a service account. @returns a token of it, as a pod gets it */
  async createServiceAccount(namespace: string, name: string): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await this.create(path, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });
    const { status } = await this.create(`${path}/${name}/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: TOKEN_SECONDS },
    });
    return (status as { token: string }).token;
  }

  /** Removes all revisions of etcd that are older than the newest, as it does every five minutes. */
  async compact(): Promise<void> {
    const status = await this.askEtcd('/v3/maintenance/status', {});
    const { header } = JSON.parse(status) as { header: { revision: string } };
    await this.askEtcd('/v3/kv/compaction', { revision: header.revision, physical: true });
  }

  /** Deletes an object from etcd, which works without the API server. @param key such as `secrets/NAMESPACE/NAME` */
  async deleteStored(key: string): Promise<void> {
    const body = { key: Buffer.from(`/registry/${key}`).toString('base64') };
    const { deleted } = JSON.parse(await this.askEtcd('/v3/kv/deleterange', body)) as { deleted?: string };
    if (deleted !== '1') throw new Error(`etcd has no key /registry/${key}`);
  }

  async close(): Promise<void> {
    await this.server.kill();
    await this.etcd.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  private async askEtcd(path: string, body: object): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${this.ports.client}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const content = await response.text();
    if (!response.ok) throw new Error(`etcd: ${path}: ${content}`);
    return content;
  }
}

interface Ports {
  readonly client: number;
  readonly peer: number;
  readonly api: number;
}

const MISSING = 'etcd and kube-apiserver are not installed (node tools/peers/install.mjs etcd kube-apiserver)';

function programs(): { readonly etcd: string; readonly apiServer: string } | undefined {
  const [etcd, apiServer] = [findPeer('etcd'), findPeer('kube-apiserver')];
  return etcd === undefined || apiServer === undefined ? undefined : { etcd, apiServer };
}

/** `describe` if the programs are installed; otherwise skipped, with the reason in the title. */
export function describeOnRealApiServer(title: string, suite: () => void): void {
  if (RealApiServer.isInstalled) describe(title, suite);
  else describe.skip(`${title}: ${MISSING}`, suite);
}

const etcdOptions = (folder: string, { client, peer }: Ports): string[] => [
  ...['--name', 'test', '--data-dir', join(folder, 'etcd'), '--log-level', 'error'],
  ...['--listen-client-urls', `http://127.0.0.1:${client}`, '--advertise-client-urls', `http://127.0.0.1:${client}`],
  ...['--listen-peer-urls', `http://127.0.0.1:${peer}`, '--initial-advertise-peer-urls', `http://127.0.0.1:${peer}`],
  ...['--initial-cluster', `test=http://127.0.0.1:${peer}`],
  // Its data need not survive a failure of the machine.
  '--unsafe-no-fsync',
];

const serverOptions = (folder: string, { client, api }: Ports): string[] => [
  `--etcd-servers=http://127.0.0.1:${client}`,
  '--bind-address=127.0.0.1',
  '--advertise-address=127.0.0.1',
  '--endpoint-reconciler-type=none',
  `--secure-port=${api}`,
  `--cert-dir=${join(folder, 'certificates')}`,
  `--token-auth-file=${join(folder, 'tokens.csv')}`,
  '--authorization-mode=RBAC',
  '--service-account-issuer=https://headgate.test',
  `--service-account-signing-key-file=${join(folder, 'accounts.key')}`,
  `--service-account-key-file=${join(folder, 'accounts.pub')}`,
  '--service-cluster-ip-range=10.0.0.0/24',
  '--profiling=false',
];

async function isHealthy(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    httpGet(`http://127.0.0.1:${port}/health`, { agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).once('error', () => resolve(false));
  });
}

function send(
  port: number,
  ca: string,
  method: string,
  path: string,
  { token, headers = {} }: RealRequest,
  body?: unknown,
): Promise<RealAnswer> {
  const content = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const type: Record<string, string> = content === undefined ? {} : { 'Content-Type': 'application/json' };
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port,
        ca,
        method,
        path,
        agent: false,
        headers: {
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
          ...(content === undefined ? {} : { 'Content-Length': Buffer.byteLength(content) }),
          ...type,
          ...headers,
        },
      },
      (response) => {
        text(response).then(
          (answer) => resolve({ status: response.statusCode ?? 0, headers: response.headers, text: answer }),
          reject,
        );
      },
    );
    request.once('error', reject);
    request.end(content);
  });
}
