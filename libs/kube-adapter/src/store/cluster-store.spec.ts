import { DomainError, SystemClock, type Clock } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { SERVICE_TOKENS } from '../api/resources.js';
import { ClusterStore } from './cluster-store.js';
import { NAMESPACE, StoreHarness } from './testing/store-harness.contract.js';

const TOKENS = 'servicetokens.svc.dev';
const WATCH = { resource: TOKENS, verb: 'watch' };
const LIST = { resource: TOKENS, verb: 'list' };

describe('the first list of a ClusterStore', () => {
  let harness: StoreHarness;
  let store: ClusterStore;
  let warnings: number;
  let onWarning: () => void;

  beforeEach(async () => {
    harness = await StoreHarness.open();
    warnings = 0;
    onWarning = () => undefined;
  });
  afterEach(async () => {
    await store.close();
    await harness.close();
  });

  const watch = (clock: Clock = new SystemClock(), upsert: () => void = () => undefined) => {
    const log = {
      info: () => undefined,
      warn: () => {
        warnings++;
        onWarning();
      },
    };
    const kubeconfig = { text: harness.sandbox.kubeconfig() };
    store = ClusterStore.open({ context: 'lab', namespace: NAMESPACE, clock, kubeconfig, log: log as never });
    return store.watch(SERVICE_TOKENS, { upsert, remove: () => undefined, keys: () => [] });
  };

  test.each([
    // A watch waits for five overloads without a warning: a server refuses the first watches of a new resource that
    // way.
    ['is overloaded', 'overload', 6, 1],
    ['fails', 'failNext', 2, 2],
    // A reset connection that was kept open is replaced without a warning.
    ['resets the connection', 'reset', 2, 1],
  ] as const)('waits while the server %s', async (_title, fault, times, minWarnings) => {
    const { faults } = harness.sandbox;
    if (fault === 'overload') faults.overload(WATCH, { times }, 0);
    else if (fault === 'failNext') faults.failNext(WATCH, 503, times, 0);
    else faults.reset(WATCH, 'before', { times });
    await watch().listed;
    expect(warnings).toBeGreaterThanOrEqual(minWarnings);
  });

  test('fails with the last error when that lasts longer than 15 s after the first warning', async () => {
    harness.sandbox.faults.overload(WATCH, {}, 0);
    const clock = new FixedClock();
    const { listed } = watch(clock);
    let isSettled = false;
    listed.catch(() => (isSettled = true));
    while (warnings === 0) {
      await new Promise(setImmediate);
      clock.advance(10);
    }
    await new Promise(setImmediate);
    expect(isSettled).toBe(false);
    clock.advance(14_980);
    await new Promise(setImmediate);
    expect(isSettled).toBe(false);
    clock.advance(20);
    await expect(listed).rejects.toMatchObject({ code: 'BUSY' });
  });

  test('fails immediately when waiting does not help', async () => {
    harness.sandbox.faults.forbid(LIST);
    await expect(watch().listed).rejects.toMatchObject({ code: 'BACKEND_FORBIDDEN' });
    expect(warnings).toBe(1);
    await store.close();
    harness.sandbox.faults.clear();
    harness.sandbox.store.create(TOKENS, {
      apiVersion: 'svc.dev/v1',
      kind: 'ServiceToken',
      metadata: { name: 'damaged', namespace: NAMESPACE },
      spec: {},
    } as never);
    const refuse = (): never => {
      throw new DomainError('NOT_READY', 'damaged');
    };
    await expect(watch(undefined, refuse).listed).rejects.toThrow('damaged');
  });

  test('fails, and leaves no timer, when it or its store is stopped meanwhile', async () => {
    harness.sandbox.faults.overload(WATCH, {}, 0);
    const isWarned = new Promise<void>((resolve) => (onWarning = resolve));
    const { stop, listed } = watch();
    await isWarned;
    await stop();
    await expect(listed).rejects.toMatchObject({ code: 'BUSY' });
    await store.close();
    const unread = watch().listed;
    await store.close();
    await expect(unread).rejects.toMatchObject({ code: 'NOT_READY' });
  });
});
