import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { FixedClock } from '@headgate/testing';
import { KubeApi } from '../api/kube-api.js';
import { KubeCredentials } from '../api/kube-credentials.js';
import { HandlerMetrics } from './handler-metrics.js';

const READ = 'kubevirt_vmi_storage_read_traffic_bytes_total';
const series = (name: string, value: number): string =>
  `${READ}{drive="a",name="${name}",namespace="tailvm"} ${value}\n`;
const pod = (node: string, phase = 'Running') => ({
  metadata: { name: `virt-handler-${node}`, namespace: 'kubevirt' },
  spec: { nodeName: node },
  status: { phase },
});

/** An API server with the handlers of the test. */
class FakeCluster {
  readonly requests: string[] = [];
  readonly accepted = new Set<string | undefined>();
  pods: unknown[] = [pod('a'), pod('b'), pod('c', 'Pending')];
  /** By the name of the node. */
  readonly answers = new Map<string, (response: ServerResponse) => void>();
  listStatus = 200;
  private server!: Server;

  async listen(): Promise<KubeCredentials> {
    const answer: RequestListener = ({ url = '', headers }, response) => {
      this.requests.push(url);
      const node = /^\/api\/v1\/namespaces\/kubevirt\/pods\/https%3Avirt-handler-(\w+)%3A8443\/proxy\/metrics$/.exec(url)?.[1]; // prettier-ignore
      if (node === undefined) {
        response.statusCode = this.listStatus;
        return void response.end(JSON.stringify({ metadata: {}, items: this.pods }));
      }
      this.accepted.add(headers.accept);
      this.answers.get(node)?.(response);
    };
    this.server = createServer(answer);
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const server = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    const text = JSON.stringify({
      clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'u', user: { token: 't' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    });
    return new KubeCredentials({ text });
  }

  proxied(): number {
    return this.requests.filter((url) => url.includes('proxy')).length;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('HandlerMetrics', () => {
  let cluster: FakeCluster;
  let credentials: KubeCredentials;
  let clock: FixedClock;
  let namespace: string | undefined;
  let handlers: HandlerMetrics;
  /** Called when the answer of the node b has been read. */
  let onAnswerRead: () => void;

  beforeEach(async () => {
    cluster = new FakeCluster();
    credentials = await cluster.listen();
    clock = new FixedClock();
    namespace = 'kubevirt';
    const discovery = {
      facts: async () => ({ kubevirt: namespace === undefined ? undefined : { metadata: { namespace } } }),
    };
    onAnswerRead = () => undefined;
    const api = new KubeApi('prod', credentials, clock);
    const stream: KubeApi['stream'] = async (path, options) => {
      const answer = await api.stream(path, options);
      if (path.includes('virt-handler-b')) answer.once('close', () => onAnswerRead());
      return answer;
    };
    const observed: Pick<KubeApi, 'list' | 'stream'> = { list: (...of) => api.list(...of), stream };
    handlers = new HandlerMetrics({ api: observed, discovery, clock });
    cluster.answers.set('a', (response) => response.end(series('web', 5)));
    cluster.answers.set('b', (response) => response.end(series('db', 7)));
  });

  afterEach(async () => {
    credentials.close();
    await cluster.close();
    expect(clock.pending).toBe(0);
  });

  const read = async (...nodes: string[]) => {
    const traffic = await handlers.read(new Set(nodes));
    return Object.fromEntries(
      [...traffic].map(([node, vms]) => [node, [...vms].map(([key, { diskReadBytes }]) => `${key} ${diskReadBytes}`)]),
    );
  };

  test('asks the handlers of nodes with running VMs only, for the text format', async () => {
    expect(await read('a')).toEqual({ a: ['tailvm/web 5'] });
    expect(cluster.requests).toEqual([
      expect.stringContaining('/api/v1/namespaces/kubevirt/pods?limit=250&labelSelector=kubevirt.io%3Dvirt-handler'),
      expect.stringContaining('virt-handler-a'),
    ]);
    expect([...cluster.accepted]).toEqual(['text/plain;version=0.0.4']);
    expect(await read()).toEqual({});
    expect(cluster.requests).toHaveLength(2);
    expect(await read('a', 'b')).toEqual({ a: ['tailvm/web 5'], b: ['tailvm/db 7'] });
    expect(handlers.problem).toBeUndefined();
  });

  test.each([
    [
      '503 of the proxy',
      (response: ServerResponse) => void response.writeHead(503).end('no endpoints'),
      /no endpoints/,
    ],
    [
      'a login page',
      (response: ServerResponse) => response.end('<!doctype html>\n<title>Log in</title>\n'),
      /no metrics/,
    ],
    ['nothing', (response: ServerResponse) => response.end(), /not complete/],
    ['a part of a line', (response: ServerResponse) => response.end(series('web', 5).slice(0, -1)), /not complete/],
    ['a damaged line', (response: ServerResponse) => response.end(`${series('web', 5)}${READ}{name="x\n`), /damaged/],
    [
      'a cut connection',
      (response: ServerResponse) => {
        response.writeHead(200, { 'Content-Length': '9999' });
        response.write(series('web', 5), () => response.destroy());
      },
      /./,
    ],
    ['an endless line', (response: ServerResponse) => response.end('x'.repeat(2 ** 20)), /line is longer/],
    ['a huge refusal', (response: ServerResponse) => void response.writeHead(500).end('x'.repeat(2 ** 20)), /too long/],
  ])('has the other nodes when one answers with %s, and asks it again after a minute', async (_what, answer, why) => {
    cluster.answers.set('a', answer);
    expect(await read('a', 'b')).toEqual({ b: ['tailvm/db 7'] });
    expect(handlers.problem).toMatch(why);
    expect(handlers.problem).toMatch(/^virt-handler on a can't be read: .*\.$/s);
    cluster.answers.set('a', (response) => response.end(series('web', 6)));
    clock.advance(59_999);
    expect(await read('a', 'b')).toEqual({ b: ['tailvm/db 7'] });
    expect(cluster.proxied()).toBe(3);
    clock.advance(1);
    expect(await read('a', 'b')).toEqual({ a: ['tailvm/web 6'], b: ['tailvm/db 7'] });
    expect(handlers.problem).toBeUndefined();
  });

  test('reads megabytes of other series, in chunks that end inside of characters', async () => {
    const foreign = `other{name="web",text="日本 \\" } 1"} 1\n`.repeat(60_000);
    const bytes = Buffer.from(foreign + series('wéb', 5) + foreign);
    cluster.answers.set('a', (response) => {
      for (let at = 0; at < bytes.length; at += 65_521) response.write(bytes.subarray(at, at + 65_521));
      response.end();
    });
    expect(await read('a')).toEqual({ a: ['tailvm/wéb 5'] });
  });

  test('does not read more than 32 MiB', async () => {
    const chunk = Buffer.from(`other_${'x'.repeat(119)} 1\n`.repeat(2 ** 13));
    let sent = 0;
    cluster.answers.set('a', (response) => {
      const more = (): void => {
        if (response.destroyed) return;
        sent += chunk.length;
        response.write(chunk, more);
      };
      more();
    });
    expect(await read('a')).toEqual({});
    expect(handlers.problem).toMatch(/too long/);
    expect(sent).toBeLessThan(64 * 2 ** 20);
  });

  test.each([
    ['sends no headers', () => undefined],
    ['stops in the middle', (response: ServerResponse) => void response.write(series('web', 5))],
  ])('has the other nodes in time when a handler %s', async (_what, answer) => {
    const asked = new Promise<void>((resolve) => {
      cluster.answers.set('a', (response) => {
        answer(response);
        resolve();
      });
    });
    const answered = new Promise<void>((resolve) => (onAnswerRead = resolve));
    const reading = read('b', 'a');
    await Promise.all([asked, answered]);
    await setImmediate();
    clock.advance(5000);
    const traffic = await reading;
    expect(traffic).toEqual({ b: ['tailvm/db 7'] });
    // The request that was given up ends a moment later.
    let next = await read('b');
    for (; !next['b']; next = await read('b')) await setImmediate();
    expect(next).toEqual({ b: ['tailvm/db 7'] });
  });

  test('asks no handler for a minute after the account was refused', async () => {
    const message = `pods "x" is forbidden: User "u" cannot get resource "pods/proxy" in API group "" in the namespace "kubevirt"`;
    const refuse = (response: ServerResponse): void =>
      void response.writeHead(403).end(JSON.stringify({ kind: 'Status', message }));
    for (const node of ['a', 'b']) cluster.answers.set(node, refuse);
    expect(await read('a', 'b')).toEqual({});
    expect(handlers.problem).toBe(
      'prod does not let u get pods/proxy in the namespace "kubevirt": grant it that verb.',
    );
    const { length } = cluster.requests;
    clock.advance(59_999);
    expect(await read('a', 'b')).toEqual({});
    expect(cluster.requests).toHaveLength(length);
    clock.advance(1);
    await read('a', 'b');
    expect(cluster.requests.length).toBeGreaterThan(length);
  });

  test('is without values where the pods may not be listed, and where KubeVirt is not found', async () => {
    cluster.listStatus = 403;
    expect(await read('a')).toEqual({});
    expect(handlers.problem).toBeDefined();
    cluster.listStatus = 200;
    namespace = undefined;
    clock.advance(60_000);
    expect(await read('a')).toEqual({});
    expect(handlers.problem).toMatch(/may not list kubevirts/);
  });

  test('forgets nodes on which no VM runs anymore', async () => {
    expect(await read('c', 'd')).toEqual({});
    expect(handlers.problem).toMatch(/no virt-handler is running there\. .*1 more node/);
    await read('a');
    expect(handlers.problem).toBeUndefined();
  });
});
