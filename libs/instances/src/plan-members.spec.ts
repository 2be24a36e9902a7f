import { buildPlan, DomainError, type InstanceRef, type Plan } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { buildBulkPlan } from './bulk-plan.js';
import { planMembers } from './plan-members.js';

const refsOf = (count: number): string[] => Array.from({ length: count }, (_none, index) => `vm/lab/local/v${index}`);
const startPlan = async ({ name }: InstanceRef): Promise<Plan> => buildPlan([{ name: 'start', detail: name }]);

describe('the plans of members', () => {
  let clock: FixedClock;
  beforeEach(() => (clock = new FixedClock()));

  test('a member that is refused has its reason and no steps, and the others keep theirs', async () => {
    const plans = await planMembers(
      refsOf(3),
      async (ref) => {
        if (ref.name === 'v0') throw new DomainError('BACKEND_UNREACHABLE', 'lab does not answer.');
        if (ref.name === 'v1') throw new Error('a defect');
        return startPlan(ref);
      },
      clock,
    );
    expect(plans).toEqual([
      {
        ref: 'vm/lab/local/v0',
        ok: false,
        steps: [],
        warnings: [],
        refusals: [{ code: 'BACKEND_UNREACHABLE', reason: 'lab does not answer.', remedy: '' }],
      },
      {
        ref: 'vm/lab/local/v1',
        ok: false,
        steps: [],
        warnings: [],
        refusals: [{ code: 'BACKEND_FAILED', reason: 'a defect', remedy: '' }],
      },
      { ref: 'vm/lab/local/v2', ok: true, steps: [{ name: 'start', detail: 'v2' }], warnings: [], refusals: [] },
    ]);
    expect(clock.pending).toBe(0);
  });

  test('at most 16 plans are computed at a time, and those that take too long are left out', async () => {
    let asked = 0;
    const stuck = Promise.withResolvers<never>();
    const planning = planMembers(
      refsOf(40),
      (ref) => {
        asked++;
        return asked <= 2 ? startPlan(ref) : stuck.promise;
      },
      clock,
    );
    for (let turn = 0; turn < 100; turn++) await Promise.resolve();
    expect(asked).toBe(18);
    clock.advance(10_000);
    const plans = await planning;
    expect(plans.map(({ ref }) => ref)).toEqual(['vm/lab/local/v0', 'vm/lab/local/v1']);
    const plan = buildBulkPlan({ action: 'start' }, refsOf(40), plans);
    expect([plan.ok, plan.unplanned, plan.steps.length]).toEqual([true, 38, 40]);
    // A plan that fails later is not an unhandled rejection, and no further one is asked for.
    stuck.reject(new Error('too late'));
    for (let turn = 0; turn < 100; turn++) await Promise.resolve();
    expect([asked, plans.length]).toEqual([18, 2]);
  });

  test('10,000 plans from memory let other work have its turn', async () => {
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const plans = await planMembers(refsOf(10_000), startPlan, clock);
    isDone = true;
    expect(plans).toHaveLength(10_000);
    expect(turns).toBeGreaterThanOrEqual(100);
  });
});

describe('the plan of a bulk task', () => {
  const refuse = (ref: string, code: 'WRONG_STATE' | 'INSTANCE_NOT_FOUND', reason: string) => ({
    ref,
    ok: false,
    ...buildPlan([], { refusals: [{ code, reason, remedy: '' }] }),
  });

  test('is not ok when every member is refused, and has each reason once', () => {
    const [first, second, third] = refsOf(3) as [string, string, string];
    const members = [
      refuse(first, 'WRONG_STATE', 'It is a template.'),
      refuse(second, 'WRONG_STATE', 'It is a template.'),
      refuse(third, 'INSTANCE_NOT_FOUND', 'v2 does not exist.'),
    ];
    expect(buildBulkPlan({ action: 'start' }, refsOf(3), members)).toEqual({
      ok: false,
      steps: [],
      warnings: [`${third} does not exist.`],
      refusals: [
        { code: 'WRONG_STATE', reason: 'It is a template.', remedy: '' },
        { code: 'INSTANCE_NOT_FOUND', reason: 'v2 does not exist.', remedy: '' },
      ],
      members,
      unplanned: 0,
    });
  });

  test('is ok when one member is not refused, and claims nothing about members that were not planned', () => {
    const [first, second] = refsOf(2) as [string, string];
    const members = [refuse(first, 'WRONG_STATE', 'It is a template.')];
    expect(buildBulkPlan({ action: 'start' }, [first, second], members)).toMatchObject({
      ok: true,
      steps: [{ name: 'start', detail: second }],
      refusals: [],
      unplanned: 1,
    });
  });
});
