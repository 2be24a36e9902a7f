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
    ['is overloaded', 'overload'],
    ['fails', 'failNext'],
    ['resets the connection', 'reset'],
  ] as const)('waits while the server %s', async (_title, fault) => {
    const { faults } = harness.sandbox;
    if (fault === 'overload') faults.overload(WATCH, { times: 2 }, 0);
    else if (fault === 'failNext') faults.failNext(WATCH, 503, 2, 0);
    else faults.reset(WATCH, 'before', { times: 2 });
    await watch().listed;
    // A reset connection that was kept open is replaced without a warning.
    expect(warnings).toBeGreaterThanOrEqual(fault === 'reset' ? 1 : 2);
  });

  test('fails with the last error when that lasts longer than 15 s', async () => {
    harness.sandbox.faults.overload(WATCH, {}, 0);
    const clock = new FixedClock();
    const isWarned = new Promise<void>((resolve) => (onWarning = resolve));
    const { listed } = watch(clock);
    let isSettled = false;
    listed.catch(() => (isSettled = true));
    await isWarned;
    clock.advance(14_999);
    await new Promise(setImmediate);
    expect(isSettled).toBe(false);
    clock.advance(1);
    await expect(listed).rejects.toMatchObject({ code: 'BUSY' });
  });

  test('fails at once when waiting does not help', async () => {
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
