import type { InstanceReading, SampleExchange, SampleRound } from '@headgate/domain-contracts';

export interface SampleExchangeHarness {
  /** The exchange as another replica sees it. */
  join(replica: string): Promise<SampleExchange>;
  close(): void | Promise<void>;
}

const reading = (index: number): InstanceReading => ({
  ref: { kind: index % 2 ? 'ct' : 'vm', context: 'lab', namespace: `team-${index % 7}`, name: `guest-${index}` },
  cpuTimeMs: index * 1000,
  cpuMillicores: null,
  memoryUsedBytes: 2 ** 40 + index,
  memoryTotalBytes: null,
  diskReadBytes: index,
  diskWrittenBytes: 0,
  networkReceivedBytes: null,
  networkTransmittedBytes: Number.MAX_SAFE_INTEGER,
});

const round = (time: number, { context = 'lab', count = 3 } = {}): SampleRound => ({
  context,
  time,
  readings: {
    instances: Array.from({ length: count }, (_none, index) => ({
      ...reading(index),
      ref: { ...reading(index).ref, context },
    })),
    nodes: [{ name: 'node-1', cpuTimeMs: null, cpuMillicores: 120, memoryUsedBytes: 5 }],
  },
});

/** The rounds that a replica receives. */
function receive(exchange: SampleExchange) {
  const rounds: SampleRound[] = [];
  const waiting = new Set<() => void>();
  exchange.subscribe((received) => {
    rounds.push(received);
    for (const check of waiting) check();
  });
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (!holds()) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  return { rounds, until };
}

/** The rules for every `SampleExchange`. */
export function sampleExchangeContract(
  adapter: string,
  open: () => SampleExchangeHarness | Promise<SampleExchangeHarness>,
): void {
  describe(`SampleExchange, ${adapter}`, () => {
    let harness: SampleExchangeHarness;
    let a: SampleExchange;
    let b: SampleExchange;

    beforeEach(async () => {
      harness = await open();
      [a, b] = [await harness.join('a'), await harness.join('b')];
    });
    afterEach(() => harness?.close());

    test('gives each round to the other replicas as it was read, and to its own not', async () => {
      const [own, other] = [receive(a), receive(b)];
      const rounds = [round(1000), round(2000, { count: 2 }), round(3000, { count: 0 })];
      for (const [index, next] of rounds.entries()) {
        await a.publish(next);
        await other.until(() => other.rounds.length > index);
      }
      expect(other.rounds).toEqual(rounds);
      expect(own.rounds).toEqual([]);
    });

    test('gives the last round of each context to a replica that joins later', async () => {
      await a.publish(round(1000));
      await a.publish(round(2000));
      await a.publish(round(1500, { context: 'prod' }));
      const later = receive(await harness.join('c'));
      await later.until(() => later.rounds.length === 2);
      expect(later.rounds.sort((x, y) => (x.context < y.context ? -1 : 1))).toEqual([
        round(2000),
        round(1500, { context: 'prod' }),
      ]);
    });

    test('gives the reason why a context was not read', async () => {
      const other = receive(b);
      const problem = { code: 'NOT_SUPPORTED', message: 'lab has no metrics-server.' } as const;
      await a.publish({ context: 'lab', time: 1000, problem });
      await other.until(() => other.rounds.length === 1);
      expect(other.rounds).toEqual([{ context: 'lab', time: 1000, problem }]);
    });

    test('takes the rounds of a new leader, also if its clock is behind', async () => {
      const [first, second, third] = [receive(a), receive(b), receive(await harness.join('c'))];
      await a.publish(round(9000));
      await second.until(() => second.rounds.length === 1);
      await third.until(() => third.rounds.length === 1);
      await b.publish(round(5000));
      await first.until(() => first.rounds.length === 1);
      await third.until(() => third.rounds.length === 2);
      expect([first.rounds, third.rounds.map(({ time }) => time)]).toEqual([[round(5000)], [9000, 5000]]);
    });

    test('carries 10,000 instances', async () => {
      const other = receive(b);
      await a.publish(round(1000, { count: 10_000 }));
      await other.until(() => other.rounds.length === 1);
      expect(other.rounds).toEqual([round(1000, { count: 10_000 })]);
    });
  });
}
