import { CapLedger } from './cap-ledger.js';
import type { CapRefusal, CapReservation } from './cap.js';
import { seededRandom } from './testing/random.js';

const HOLDER = '@alice:example.org';

function open(limit = 100) {
  const ledger = new CapLedger();
  const cap = ledger.define('pushers', { limit, resource: 'pushers' });
  return { ledger, cap };
}

const expectGranted = (answer: CapReservation | CapRefusal): CapReservation => {
  if (!answer.granted) throw new Error('refused');
  return answer;
};

describe('CapLedger', () => {
  test('does not let parallel writes exceed the cap together', async () => {
    const { ledger, cap } = open(100);
    let counts = 0;
    const count = async () => (counts++, 97);
    const answers = await Promise.all(Array.from({ length: 50 }, () => ledger.reserve(cap, { holder: HOLDER }, count)));
    expect(answers.filter((answer) => answer.granted)).toHaveLength(3);
    expect(counts).toBe(1);
  });

  test('reports the used amount, including reservations, and the requested amount in a refusal', () => {
    const { ledger, cap } = open(10);
    ledger.reconcile(cap, HOLDER, 7);
    expectGranted(ledger.reserveKnown(cap, { holder: HOLDER, amount: 2 }));
    expect(ledger.reserveKnown(cap, { holder: HOLDER, amount: 2 })).toEqual({
      granted: false,
      cap: 'pushers',
      resource: 'pushers',
      limit: 10,
      held: 9,
      requested: 2,
    });
  });

  test('keeps committed amounts, frees released ones, and settles only once', () => {
    const { ledger, cap } = open(2);
    ledger.reconcile(cap, HOLDER, 0);
    const kept = expectGranted(ledger.reserveKnown(cap, { holder: HOLDER }));
    const dropped = expectGranted(ledger.reserveKnown(cap, { holder: HOLDER }));
    expect(ledger.reserveKnown(cap, { holder: HOLDER }).granted).toBe(false);
    kept.commit();
    kept.commit();
    dropped.release();
    dropped.commit();
    expect(ledger.held(cap, HOLDER)).toBe(1);
    expect(ledger.reserveKnown(cap, { holder: HOLDER }).granted).toBe(true);
  });

  test('grants rewrites even above the cap and with an unknown count', async () => {
    const { ledger, cap } = open(1);
    const count = () => {
      throw new Error('counted');
    };
    const rewrite = expectGranted(await ledger.reserve(cap, { holder: HOLDER, rewrite: true }, count));
    rewrite.commit();
    ledger.reconcile(cap, HOLDER, 5);
    expect(ledger.reserveKnown(cap, { holder: HOLDER, rewrite: true }).granted).toBe(true);
    expect(ledger.held(cap, HOLDER)).toBe(5);
  });

  test('reserves one place for two writes of one new item, kept once either succeeds', () => {
    const { ledger, cap } = open(1);
    ledger.reconcile(cap, HOLDER, 0);
    const write = { holder: HOLDER, id: 'm.direct' };
    const [one, two] = [ledger.reserveKnown(cap, write), ledger.reserveKnown(cap, write)].map(expectGranted);
    expect(ledger.reserveKnown(cap, { holder: HOLDER, id: 'm.other' }).granted).toBe(false);
    one!.commit();
    two!.release();
    expect(ledger.held(cap, HOLDER)).toBe(1);
  });

  test('frees the place of an item if all its writes fail', () => {
    const { ledger, cap } = open(1);
    ledger.reconcile(cap, HOLDER, 0);
    const write = { holder: HOLDER, id: 'm.direct' };
    for (const reservation of [ledger.reserveKnown(cap, write), ledger.reserveKnown(cap, write)])
      expectGranted(reservation).release();
    expect(ledger.reserveKnown(cap, { holder: HOLDER, id: 'm.other' }).granted).toBe(true);
  });

  test('counts only the committed part of a batch, and frees deleted items', () => {
    const { ledger, cap } = open(1000);
    ledger.reconcile(cap, HOLDER, 990);
    expectGranted(ledger.reserveKnown(cap, { holder: HOLDER, amount: 10 })).commit(4);
    expect(ledger.held(cap, HOLDER)).toBe(994);
    ledger.free(cap, HOLDER, 994);
    ledger.free(cap, HOLDER);
    expect(ledger.held(cap, HOLDER)).toBe(0);
  });

  test('grants a write of amount 0 at the cap', () => {
    const { ledger, cap } = open(1);
    ledger.reconcile(cap, HOLDER, 1);
    expect(ledger.reserveKnown(cap, { holder: HOLDER, amount: 0 }).granted).toBe(true);
  });

  test('counts again after counting has failed', async () => {
    const { ledger, cap } = open(1);
    const failing = () => Promise.reject(new Error('upstream unavailable'));
    await expect(ledger.reserve(cap, { holder: HOLDER }, failing)).rejects.toThrow('upstream unavailable');
    expect((await ledger.reserve(cap, { holder: HOLDER }, () => 0)).granted).toBe(true);
  });

  test('caches at most maxHolders holders, and never drops one with a write in progress', async () => {
    const ledger = new CapLedger({ maxHolders: 3 });
    const cap = ledger.define('filters', { limit: 1, resource: 'filters' });
    await ledger.reserve(cap, { holder: 'busy' }, () => 0);
    for (let holder = 0; holder < 10; holder++) ledger.reconcile(cap, `idle-${holder}`, 1);
    expect(ledger.isKnown(cap, 'busy')).toBe(true);
    expect(Array.from({ length: 10 }, (_, holder) => ledger.isKnown(cap, `idle-${holder}`))).toEqual([
      ...Array.from({ length: 8 }, () => false),
      true,
      true,
    ]);
  });

  test('counts an invalidated holder again, unless a write is in progress', () => {
    const { ledger, cap } = open(5);
    ledger.reconcile(cap, HOLDER, 1);
    const write = expectGranted(ledger.reserveKnown(cap, { holder: HOLDER }));
    ledger.invalidate(cap, HOLDER);
    expect(ledger.isKnown(cap, HOLDER)).toBe(true);
    write.release();
    ledger.invalidate(cap, HOLDER);
    expect(ledger.isKnown(cap, HOLDER)).toBe(false);
  });

  test('counts an expired holder again although a write is in progress, which keeps its place', async () => {
    const { ledger, cap } = open(5);
    ledger.reconcile(cap, HOLDER, 4);
    const write = expectGranted(ledger.reserveKnown(cap, { holder: HOLDER }));
    expect((await ledger.reserve(cap, { holder: HOLDER }, () => 0)).granted).toBe(false);
    ledger.expire(cap, HOLDER);
    expect(ledger.isKnown(cap, HOLDER)).toBe(false);
    expectGranted(await ledger.reserve(cap, { holder: HOLDER, amount: 3 }, () => 1)).commit();
    expect((await ledger.reserve(cap, { holder: HOLDER }, () => 0)).granted).toBe(false);
    write.release();
    expect((await ledger.reserve(cap, { holder: HOLDER }, () => 0)).granted).toBe(true);
  });

  test('adds the writes that end while a holder is counted', async () => {
    const { ledger, cap } = open(5);
    ledger.reconcile(cap, HOLDER, 0);
    const write = expectGranted(ledger.reserveKnown(cap, { holder: HOLDER, amount: 3 }));
    ledger.expire(cap, HOLDER);
    const counting = Promise.withResolvers<number>();
    const next = ledger.reserve(cap, { holder: HOLDER, amount: 3 }, () => counting.promise);
    write.commit();
    counting.resolve(0);
    expect((await next).granted).toBe(false);
    expect(ledger.held(cap, HOLDER)).toBe(3);
  });

  test.each([0, -1, 1.5, Number.NaN])('refuses a cap of %p and names it', (limit) => {
    expect(() => new CapLedger().define('limits.pushers_per_user', { limit, resource: 'pushers' })).toThrow(
      'limits.pushers_per_user',
    );
  });

  test.each([11, 12, 13])('never exceeds the cap in any random sequence of operations (seed %i)', (seed) => {
    const random = seededRandom(seed);
    const { ledger, cap } = open(20);
    ledger.reconcile(cap, HOLDER, 0);
    const pending: CapReservation[] = [];
    for (let step = 0; step < 5000; step++) {
      const dice = random();
      if (dice < 0.5) {
        const id = random() < 0.5 ? { id: `t${Math.floor(random() * 5)}` } : { amount: Math.floor(random() * 6) };
        const answer = ledger.reserveKnown(cap, { holder: HOLDER, ...id });
        if (answer.granted) pending.push(answer);
      } else if (dice < 0.9 && pending.length > 0) {
        const [write] = pending.splice(Math.floor(random() * pending.length), 1);
        if (random() < 0.6) write!.commit();
        else write!.release();
      } else {
        ledger.free(cap, HOLDER, Math.floor(random() * 4));
      }
      if (ledger.held(cap, HOLDER)! > 20) throw new Error(`step ${step}: ${ledger.held(cap, HOLDER)} held`);
    }
    for (const write of pending) write.release();
    ledger.free(cap, HOLDER, 20);
    expect(expectGranted(ledger.reserveKnown(cap, { holder: HOLDER, amount: 20 })).granted).toBe(true);
  });
});
