import { FallbackWindows, type Rate, RateWindows } from '@headgate/limits-core';
import { RedisWindows } from './redis-windows.js';
import { answering } from './testing/answering.js';
import { TestServer, serverProgram } from './testing/test-server.js';

const LIMIT = 10;

/** One of the nodes that share a server: what it let through, and whether it has the server. */
class Node {
  readonly shared: RedisWindows;
  readonly #windows: FallbackWindows;
  readonly #rate: Rate;

  constructor(url: string) {
    this.shared = RedisWindows.open({ url, timeoutMs: 5000 });
    this.#windows = new FallbackWindows(this.shared, new RateWindows(), { retryAfterMs: 0 });
    this.#rate = this.#windows.define('ring', { limit: LIMIT, windowMs: 600_000 });
  }

  /** How many of so many events it lets through, half of them counted, half of them reserved and kept. */
  async through(events: number): Promise<number> {
    let through = 0;
    for (let event = 0; event < events; event++) {
      if (event % 2 === 0) {
        if ((await this.#windows.count(this.#rate, '@a:b')) === undefined) through++;
        continue;
      }
      const answer = await this.#windows.reserve([{ rate: this.#rate, key: '@a:b' }]);
      if (!answer.granted) continue;
      through++;
      await answer.keep();
    }
    return through;
  }
}

const suite = serverProgram ? describe : describe.skip;

suite(`Two nodes and a server that is killed (${serverProgram ?? 'no server is installed'})`, () => {
  let server: TestServer;
  let nodes: [Node, Node];

  beforeEach(async () => {
    server = await TestServer.start();
    nodes = [new Node(server.url), new Node(server.url)];
    await answering(...nodes.map(({ shared }) => shared));
  });
  afterEach(async () => {
    for (const { shared } of nodes) await shared.close();
    await server.close();
  });

  test('let through exactly the limit while it answers', async () => {
    const [here, there] = await Promise.all([nodes[0].through(20), nodes[1].through(20)]);
    expect(here + there).toBe(LIMIT);
  });

  test('let through at most nodes × limit in a window with an outage, and limit more once it is back empty', async () => {
    const before = [await nodes[0].through(4), await nodes[1].through(3)];
    expect(before).toEqual([4, 3]);
    await server.stop();
    const during = [await nodes[0].through(20), await nodes[1].through(20)];
    // What a node let through before counts in its own windows, too.
    expect(during).toEqual([LIMIT - 4, LIMIT - 3]);
    await server.start();
    await answering(...nodes.map(({ shared }) => shared));
    const after = (await nodes[0].through(20)) + (await nodes[1].through(20));
    expect(after).toBe(LIMIT);
  });

  test('settle on their own what the server has lost', async () => {
    const own = new RateWindows();
    const windows = new FallbackWindows(nodes[0].shared, own, { retryAfterMs: 0 });
    const rate = windows.define('login', { limit: 2, windowMs: 600_000 });
    const answer = await windows.reserve([{ rate, key: 'alice' }]);
    await server.stop();
    if (answer.granted) await answer.keep();
    expect(own.peek(rate, 'alice')).toMatchObject({ counted: 1, inFlight: 0 });
  });
});
