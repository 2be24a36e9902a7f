import { CapLedger } from './cap-ledger.js';
import type { CapRefusal, CapReservation } from './cap.js';
import { seededRandom } from './testing/random.js';

const HOLDER = '@alice:example.org';

function open(limit = 100) {
  const ledger = new CapLedger();
  const cap = ledger.define('pushers', { limit, what: 'pushers' });
  return { ledger, cap };
}

const granted = (answer: CapReservation | CapRefusal): CapReservation => {
  if (!answer.granted) throw new Error('refused');
  return answer;
};

describe('CapLedger', () => {
  test('never lets writes that run at the same time pass the cap together', async () => {
    const { ledger, cap } = open(100);
    let asked = 0;
    const count = async () => (asked++, 97);
    const answers = await Promise.all(Array.from({ length: 50 }, () => ledger.reserve(cap, { holder: HOLDER }, count)));
    expect(answers.filter((answer) => answer.granted)).toHaveLength(3);
    expect(asked).toBe(1);
  });

  test('says what is held, in flight included, and what was offered when it refuses', () => {
    const { ledger, cap } = open(10);
    ledger.reconcile(cap, HOLDER, 7);
    granted(ledger.reserveKnown(cap, { holder: HOLDER, offered: 2 }));
    expect(ledger.reserveKnown(cap, { holder: HOLDER, offered: 2 })).toEqual({
      granted: false,
      cap: 'pushers',
      what: 'pushers',
      limit: 10,
      held: 9,
      offered: 2,
    });
  });

  test('holds what is committed, gives back what is released, and settles once', () => {
    const { ledger, cap } = open(2);
    ledger.reconcile(cap, HOLDER, 0);
    const kept = granted(ledger.reserveKnown(cap, { holder: HOLDER }));
    const dropped = granted(ledger.reserveKnown(cap, { holder: HOLDER }));
    expect(ledger.reserveKnown(cap, { holder: HOLDER }).granted).toBe(false);
    kept.commit();
    kept.commit();
    dropped.release();
    dropped.commit();
    expect(ledger.held(cap, HOLDER)).toBe(1);
    expect(ledger.reserveKnown(cap, { holder: HOLDER }).granted).toBe(true);
  });

  test('takes rewriting for free, even above the cap and without knowing the count', async () => {
    const { ledger, cap } = open(1);
    const count = () => {
      throw new Error('asked');
    };
    const rewrite = granted(await ledger.reserve(cap, { holder: HOLDER, rewrite: true }, count));
    rewrite.commit();
    ledger.reconcile(cap, HOLDER, 5);
    expect(ledger.reserveKnown(cap, { holder: HOLDER, rewrite: true }).granted).toBe(true);
    expect(ledger.held(cap, HOLDER)).toBe(5);
  });

  test('gives two writes of one new thing one place, held from the first that succeeds', () => {
    const { ledger, cap } = open(1);
    ledger.reconcile(cap, HOLDER, 0);
    const offer = { holder: HOLDER, id: 'm.direct' };
    const [one, two] = [ledger.reserveKnown(cap, offer), ledger.reserveKnown(cap, offer)].map(granted);
    expect(ledger.reserveKnown(cap, { holder: HOLDER, id: 'm.other' }).granted).toBe(false);
    one!.commit();
    two!.release();
    expect(ledger.held(cap, HOLDER)).toBe(1);
  });

  test('frees the place of a thing when all its writes fail', () => {
    const { ledger, cap } = open(1);
    ledger.reconcile(cap, HOLDER, 0);
    const offer = { holder: HOLDER, id: 'm.direct' };
    for (const write of [ledger.reserveKnown(cap, offer), ledger.reserveKnown(cap, offer)]) granted(write).release();
    expect(ledger.reserveKnown(cap, { holder: HOLDER, id: 'm.other' }).granted).toBe(true);
  });

  test('holds what a batch really added, and frees what is removed', () => {
    const { ledger, cap } = open(1000);
    ledger.reconcile(cap, HOLDER, 990);
    granted(ledger.reserveKnown(cap, { holder: HOLDER, offered: 10 })).commit(4);
    expect(ledger.held(cap, HOLDER)).toBe(994);
    ledger.removed(cap, HOLDER, 994);
    ledger.removed(cap, HOLDER);
    expect(ledger.held(cap, HOLDER)).toBe(0);
  });

  test('lets an empty offer through at the cap', () => {
    const { ledger, cap } = open(1);
    ledger.reconcile(cap, HOLDER, 1);
    expect(ledger.reserveKnown(cap, { holder: HOLDER, offered: 0 }).granted).toBe(true);
  });

  test('asks again when the count could not be had', async () => {
    const { ledger, cap } = open(1);
    const failing = () => Promise.reject(new Error('upstream is away'));
    await expect(ledger.reserve(cap, { holder: HOLDER }, failing)).rejects.toThrow('upstream is away');
    expect((await ledger.reserve(cap, { holder: HOLDER }, () => 0)).granted).toBe(true);
  });

  test('remembers no more holders than told, and never drops one with a write under way', async () => {
    const ledger = new CapLedger({ maxHolders: 3 });
    const cap = ledger.define('filters', { limit: 1, what: 'filters' });
    await ledger.reserve(cap, { holder: 'busy' }, () => 0);
    for (let holder = 0; holder < 10; holder++) ledger.reconcile(cap, `idle-${holder}`, 1);
    expect(ledger.knows(cap, 'busy')).toBe(true);
    expect(Array.from({ length: 10 }, (_, holder) => ledger.knows(cap, `idle-${holder}`))).toEqual([
      ...Array.from({ length: 8 }, () => false),
      true,
      true,
    ]);
  });

  test('is asked again after a doubt, unless a write is under way', () => {
    const { ledger, cap } = open(5);
    ledger.reconcile(cap, HOLDER, 1);
    const write = granted(ledger.reserveKnown(cap, { holder: HOLDER }));
    ledger.doubt(cap, HOLDER);
    expect(ledger.knows(cap, HOLDER)).toBe(true);
    write.release();
    ledger.doubt(cap, HOLDER);
    expect(ledger.knows(cap, HOLDER)).toBe(false);
  });

  test.each([0, -1, 1.5, Number.NaN])('refuses a cap of %p by name', (limit) => {
    expect(() => new CapLedger().define('limits.pushers_per_user', { limit, what: 'pushers' })).toThrow(
      'limits.pushers_per_user',
    );
  });

  test.each([11, 12, 13])('never holds more than the cap, whatever comes in whatever order (seed %i)', (seed) => {
    const random = seededRandom(seed);
    const { ledger, cap } = open(20);
    ledger.reconcile(cap, HOLDER, 0);
    const open_: CapReservation[] = [];
    for (let step = 0; step < 5000; step++) {
      const dice = random();
      if (dice < 0.5) {
        const id = random() < 0.5 ? { id: `t${Math.floor(random() * 5)}` } : { offered: Math.floor(random() * 6) };
        const answer = ledger.reserveKnown(cap, { holder: HOLDER, ...id });
        if (answer.granted) open_.push(answer);
      } else if (dice < 0.9 && open_.length > 0) {
        const [write] = open_.splice(Math.floor(random() * open_.length), 1);
        if (random() < 0.6) write!.commit();
        else write!.release();
      } else {
        ledger.removed(cap, HOLDER, Math.floor(random() * 4));
      }
      if (ledger.held(cap, HOLDER)! > 20) throw new Error(`step ${step}: ${ledger.held(cap, HOLDER)} held`);
    }
    for (const write of open_) write.release();
    ledger.removed(cap, HOLDER, 20);
    expect(granted(ledger.reserveKnown(cap, { holder: HOLDER, offered: 20 })).granted).toBe(true);
  });
});
