import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SILENT_LOG, SystemClock, type VmSpec } from '@headgate/domain-contracts';
import { KubeApi } from '../api/kube-api.js';
import { KubeCredentials } from '../api/kube-credentials.js';
import { Reachability } from '../watch/reachability.js';
import { bootVolumes } from './boot-volumes.js';
import { VmCreation } from './vm-creation.js';

/** A system clock whose delays pass immediately. */
class ImpatientClock extends SystemClock {
  /** One for each request that has not ended. */
  readonly pending = new Set<() => void>();

  override async delay(): Promise<void> {}

  override after(ms: number, callback: () => void): () => void {
    const cancel = super.after(ms, () => {
      this.pending.delete(cancel);
      callback();
    });
    this.pending.add(cancel);
    return () => {
      this.pending.delete(cancel);
      cancel();
    };
  }
}

const CREATE_ID = 'ab12';
const spec: VmSpec = {
  ref: { kind: 'vm', context: 'prod', namespace: 'lab', name: 'web' },
  cpu: 1,
  memoryBytes: 1024 ** 3,
  diskBytes: 1024 ** 3,
  source: { kind: 'containerDisk', image: 'registry.example.org/x:1' },
  start: false,
};

describe('VmCreation', () => {
  let server: Server;
  let credentials: KubeCredentials;
  let requests: string[];
  let clock: ImpatientClock;

  afterEach(async () => {
    while (clock.pending.size > 0) await new Promise((resolve) => setImmediate(resolve));
    credentials.close();
    server.closeAllConnections();
    server.close();
  });

  /** A server that stores the VM but does not answer the POST, and fails the next reads. */
  async function creationOver(failedReads: number): Promise<VmCreation> {
    requests = [];
    const vm = { metadata: { name: 'web', namespace: 'lab', annotations: { 'svc.dev/create-id': CREATE_ID } } };
    server = createServer((request: IncomingMessage, response: ServerResponse) => {
      requests.push(request.method ?? '');
      if (request.method === 'POST') return void request.socket.destroy();
      const fails = request.method === 'GET' && failedReads-- > 0;
      response.writeHead(fails ? 500 : 200).end(JSON.stringify(fails ? { kind: 'Status', message: 'not now' } : vm));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const text = JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'u', user: { token: 't' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    });
    credentials = new KubeCredentials({ text });
    clock = new ImpatientClock();
    const api = new KubeApi('prod', credentials, clock);
    return new VmCreation({ api, clock, reachability: new Reachability(async () => undefined, clock) }, SILENT_LOG);
  }
  const draft = {
    spec,
    createId: CREATE_ID,
    disks: bootVolumes(spec, { createId: CREATE_ID, architecture: 'amd64', canImport: true }),
  };

  test.each([0, 1, 12])(
    'finds its VM after a lost response and %i failed reads, and does not remove it',
    async (reads) => {
      const creation = await creationOver(reads);
      await expect(creation.create(draft)).resolves.toMatchObject({ metadata: { name: 'web' } });
      expect(requests).not.toContain('DELETE');
      expect(requests.filter((method) => method === 'POST')).toHaveLength(1);
    },
  );

  test('removes its VM when it can not find out whether it exists, because the caller gets an error', async () => {
    const creation = await creationOver(100);
    await expect(creation.create(draft)).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    while (!requests.includes('DELETE')) await new Promise((resolve) => setImmediate(resolve));
  });
});
