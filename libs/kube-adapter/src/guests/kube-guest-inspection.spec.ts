import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SystemClock, type GuestInspection, type InstanceRef } from '@headgate/domain-contracts';
import { KubeBackend } from '../kube-backend.js';

const ref: InstanceRef = { kind: 'vm', context: 'prod', namespace: 'tailvm', name: 'web' };
const VMI = { status: { phase: 'Running', conditions: [{ type: 'AgentConnected', status: 'True' }] } };

/** An API server whose guests answer as the test says. */
class HostileCluster {
  readonly backend: KubeBackend;

  private constructor(private readonly server: Server) {
    const { port } = server.address() as AddressInfo;
    const text = JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
      users: [{ name: 'c', user: {} }],
      'current-context': 'c',
    });
    this.backend = KubeBackend.open({ context: 'prod', kubeconfig: { text }, clock: new SystemClock() });
  }

  get guests(): GuestInspection {
    return this.backend.require('guestInfo');
  }

  static async open(answer: (response: ServerResponse) => void): Promise<HostileCluster> {
    const server = createServer((request, response) => {
      if (/^\/apis\/subresources/.test(request.url ?? '')) answer(response);
      else response.end(JSON.stringify(VMI));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new HostileCluster(server);
  }

  async close(): Promise<void> {
    await this.backend.close();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('a hostile guest agent behind virt-api', () => {
  let cluster: HostileCluster;
  afterEach(() => cluster.close());

  const answered = async (text: string) => {
    cluster = await HostileCluster.open((response) => response.end(text));
    return cluster.guests.info(ref);
  };
  const unreachable = { code: 'GUEST_AGENT_UNREACHABLE' };

  test('does not fill the memory with an endless answer', async () => {
    let sent = 0;
    cluster = await HostileCluster.open((response) => {
      const chunk = Buffer.alloc(65_536, 'x');
      const push = (): void => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      };
      response.on('drain', push).on('error', () => undefined);
      push();
    });
    await expect(cluster.guests.info(ref)).rejects.toMatchObject(unreachable);
    expect(sent).toBeLessThan(100 * 1024 ** 2);
  });

  test('is unreachable when it answers garbage', async () => {
    await expect(answered('\u0000\u001b[2J not JSON')).rejects.toMatchObject(unreachable);
  });

  test('is unreachable when virt-api says so, without control characters in the message', async () => {
    cluster = await HostileCluster.open((response) => {
      response.statusCode = 500;
      response.end('agent \u001b[31m failed');
    });
    await expect(cluster.guests.info(ref)).rejects.toMatchObject({
      ...unreachable,
      message: expect.not.stringContaining('\u001b'),
    });
  });

  test('nests as deep as it likes without effect', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const info = await answered(`{"os": {"id": ${deep}}, "items": [${deep}]}`);
    expect(info.os.id).toBe('');
  });

  test('gives fields of any type, which become empty, unknown or cut', async () => {
    const user = { userName: 'root\u202e\u0007', loginTime: 1e300 };
    const disk = { diskName: 7, mountPoint: '/'.repeat(1000), fileSystemType: null, usedBytes: -1, totalBytes: '2' };
    const items = [user, disk, null, 3, 'text', ...Array.from({ length: 500 }, () => disk)];
    const { os, users, filesystems } = await answered(
      JSON.stringify({ hostname: ['a'], os: { id: 'x\r\ny', name: {} }, items }),
    );
    expect(os).toMatchObject({ hostname: '', id: 'xy', name: '' });
    expect(users[0]).toEqual({ name: 'root', loginTime: null });
    expect([users.length, filesystems.length]).toEqual([100, 100]);
    expect(filesystems[1]).toMatchObject({ disk: '', type: '', usedBytes: null, totalBytes: null });
    expect(filesystems[1]?.mountPoint.length).toBe(256);
  });
});
