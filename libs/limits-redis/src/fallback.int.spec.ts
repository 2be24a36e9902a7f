import { FallbackRateLimiter, type Rate, MemoryRateLimiter } from '@headgate/limits-core';
import { RedisRateLimiter } from './redis-rate-limiter.js';
import { waitUntilReachable } from './testing/wait-until-reachable.js';
import { describeOnServers, TestServer } from './testing/test-server.js';

const LIMIT = 10;

/** One of the nodes that share a server. */
class Node {
  readonly shared: RedisRateLimiter;
  private readonly limiter: FallbackRateLimiter;
  private readonly rate: Rate;

  constructor(url: string) {
    this.shared = RedisRateLimiter.open({ url, timeoutMs: 5000 });
    this.limiter = new FallbackRateLimiter(this.shared, new MemoryRateLimiter(), { retryAfterMs: 0 });
    this.rate = this.limiter.define('ring', { limit: LIMIT, windowMs: 600_000 });
  }

  /** The number of granted events, half of them counted, half of them reserved and committed. */
  async countGranted(events: number): Promise<number> {
    let granted = 0;
    for (let event = 0; event < events; event++) {
      if (event % 2 === 0) {
        if ((await this.limiter.count(this.rate, '@a:b')) === undefined) granted++;
        continue;
      }
      const answer = await this.limiter.reserve([{ rate: this.rate, key: '@a:b' }]);
      if (!answer.granted) continue;
      granted++;
      await answer.commit();
    }
    return granted;
  }
}

describeOnServers('FallbackRateLimiter over RedisRateLimiter, on two nodes', (program) => {
  let server: TestServer;
  let nodes: [Node, Node];

  beforeEach(async () => {
    server = await TestServer.start(program);
    nodes = [new Node(server.url), new Node(server.url)];
    await waitUntilReachable(...nodes.map(({ shared }) => shared));
  });
  afterEach(async () => {
    for (const { shared } of nodes) await shared.close();
    await server.close();
  });

  test('grants exactly the limit while the server answers', async () => {
    const [here, there] = await Promise.all([nodes[0].countGranted(20), nodes[1].countGranted(20)]);
    expect(here + there).toBe(LIMIT);
  });

  test('grants at most nodes × limit in a window with an outage, and limit more once the server is back without data', async () => {
    const before = [await nodes[0].countGranted(4), await nodes[1].countGranted(3)];
    expect(before).toEqual([4, 3]);
    await server.stop();
    const during = [await nodes[0].countGranted(20), await nodes[1].countGranted(20)];
    // Events that a node granted before the outage count in its own limiter too.
    expect(during).toEqual([LIMIT - 4, LIMIT - 3]);
    await server.start();
    await waitUntilReachable(...nodes.map(({ shared }) => shared));
    const after = (await nodes[0].countGranted(20)) + (await nodes[1].countGranted(20));
    expect(after).toBe(LIMIT);
  });

  test('settles in its own limiter a reservation that the server has lost', async () => {
    const own = new MemoryRateLimiter();
    const limiter = new FallbackRateLimiter(nodes[0].shared, own, { retryAfterMs: 0 });
    const rate = limiter.define('login', { limit: 2, windowMs: 600_000 });
    const answer = await limiter.reserve([{ rate, key: 'alice' }]);
    await server.stop();
    if (answer.granted) await answer.commit();
    expect(own.peek(rate, 'alice')).toMatchObject({ counted: 1, inFlight: 0 });
  });
});
