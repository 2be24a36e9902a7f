import type { BoundedOperation } from '@headgate/homeserver-contracts';
import { RawTargetClient } from './testing/raw-target-client.js';
import { describeWithSynapse, Synapse } from './testing/synapse.js';
import { SynapseServlets } from './testing/synapse-servlets.js';
import { type ReceivedRequest, receivedRequests } from './testing/received-requests.js';

/** Targets before they pass any proxy. 10,000 were checked once with `HEADGATE_TEST_TARGETS=10000`. */
const COUNT = Number(process.env['HEADGATE_TEST_TARGETS'] ?? 1_000);
const CONNECTIONS = 8;
const TIMEOUT_MS = 600_000;

/** The servlets of Synapse that carry out bounded operations. */
const SERVLETS: Readonly<Record<string, BoundedOperation>> = {
  LoginRestServlet: 'login',
  RegisterRestServlet: 'register',
  UploadServlet: 'upload',
  AsyncUploadServlet: 'uploadTo',
  RoomSendEventRestServlet: 'send',
  IdTokenServlet: 'openIdToken',
  RoomAccountDataServlet: 'setRoomAccountData',
  FederationSendServlet: 'sendTransaction',
};

/** The operation that the gateway finds; undefined for none. */
type Verdict = BoundedOperation | undefined;

describeWithSynapse('the operations that the gateway and Synapse find in a target', () => {
  let synapse: Synapse;
  let servlets: SynapseServlets;
  let clients: RawTargetClient[];

  beforeAll(async () => {
    synapse = await Synapse.start({ hasMetrics: true });
    const port = Number(new URL(synapse.url).port);
    servlets = new SynapseServlets(port);
    clients = Array.from({ length: CONNECTIONS }, () => new RawTargetClient(port));
  }, TIMEOUT_MS);
  afterAll(async () => {
    for (const client of clients ?? []) client.close();
    servlets?.close();
    await synapse?.dispose();
  });

  async function sendAll(requests: readonly ReceivedRequest[]): Promise<void> {
    const left = [...requests];
    await Promise.all(
      clients.map(async (client) => {
        for (let next = left.pop(); next; next = left.pop()) await client.send(next.method, next.target, '{}');
      }),
    );
  }

  /** The bounded operations that Synapse carried out although the gateway found another one or none. */
  async function others(verdict: Verdict, requests: readonly ReceivedRequest[]): Promise<readonly [string, number][]> {
    const received = await servlets.during(() => sendAll(requests));
    return [...received].filter(([servlet]) => servlet in SERVLETS && SERVLETS[servlet] !== verdict);
  }

  /** The requests that cause differences, up to a few. */
  async function culprits(verdict: Verdict, requests: readonly ReceivedRequest[]): Promise<string[]> {
    const found = await others(verdict, requests);
    if (found.length === 0) return [];
    if (requests.length === 1) return [`${requests[0]?.method} ${requests[0]?.target}: ${String(verdict)}, not ${found[0]?.[0]}`]; // prettier-ignore
    const half = Math.ceil(requests.length / 2);
    const first = await culprits(verdict, requests.slice(0, half));
    return first.length > 5 ? first : [...first, ...(await culprits(verdict, requests.slice(half)))];
  }

  test(
    'are the same, directly and behind every proxy',
    async () => {
      const groups = groupsOf(COUNT);
      const differences: string[] = [];
      const carriedOut = new Set<string>();
      for (const [verdict, requests] of groups) {
        const received = await servlets.during(() => sendAll(requests));
        const bounded = [...received].filter(([servlet]) => servlet in SERVLETS);
        for (const [servlet] of bounded) carriedOut.add(servlet);
        if (bounded.some(([servlet]) => SERVLETS[servlet] !== verdict))
          differences.push(...(await culprits(verdict, requests)));
      }
      expect(differences).toEqual([]);
      // Each of them was seen, so that a difference would be, too.
      expect([...carriedOut].sort()).toEqual(Object.keys(SERVLETS).sort());
      expect(groups.get(undefined)?.length).toBeGreaterThan(COUNT / 10);
    },
    TIMEOUT_MS,
  );
});

/** The requests by the operation that the gateway found before. It refuses the others. */
function groupsOf(count: number): Map<Verdict, ReceivedRequest[]> {
  const groups = new Map<Verdict, ReceivedRequest[]>();
  for (const request of receivedRequests(count)) {
    if (request.verdict === 'ambiguous') continue;
    const verdict = request.verdict === 'unknown' ? undefined : request.verdict;
    groups.set(verdict, [...(groups.get(verdict) ?? []), request]);
  }
  return groups;
}
