import {
  DomainError,
  formatRef,
  ResourceMetrics,
  UnavailableAbility,
  type Abilities,
  type AbilityName,
  type Backend,
  type Instance,
  type InstanceReading,
  type ResourceReadings,
} from '@headgate/domain-contracts';
import { buildVm, FixedClock, MemoryBackend, withStatus } from '@headgate/testing';
import { MetricsSampler } from './metrics-sampler.js';
import { ReadMetrics } from './read-metrics.js';
import { HISTORY_MS, SAMPLE_INTERVAL_MS } from './usage.js';

/** A backend whose readings the test answers. */
class ManualMetrics extends ResourceMetrics {
  calls = 0;
  private answers: ((readings: ResourceReadings | DomainError) => void)[] = [];

  override read(): Promise<ResourceReadings> {
    this.calls++;
    return new Promise((resolve, reject) =>
      this.answers.push((result) => (result instanceof DomainError ? reject(result) : resolve(result))),
    );
  }

  async answer(result: ResourceReadings | DomainError): Promise<void> {
    this.answers.shift()?.(result);
    await settled();
  }
}

class ManualBackend extends MemoryBackend {
  readonly metrics = new ManualMetrics();

  override ability<K extends AbilityName>(name: K): Abilities[K] | UnavailableAbility {
    return name === 'metrics' ? (this.metrics as unknown as Abilities[K]) : super.ability(name);
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const reading = ({ ref }: Instance, values: Partial<InstanceReading> = {}): InstanceReading => ({
  ref,
  cpuTimeMs: 0,
  cpuMillicores: null,
  memoryUsedBytes: 1,
  memoryTotalBytes: null,
  diskReadBytes: null,
  diskWrittenBytes: null,
  networkReceivedBytes: null,
  networkTransmittedBytes: null,
  ...values,
});

describe('MetricsSampler', () => {
  let clock: FixedClock;
  let sampler: MetricsSampler;
  let warnings: object[];
  let fleet: Map<string, Instance>;

  const over = (...backends: Backend[]): MetricsSampler => {
    const get = (context: string): Backend => backends.find((backend) => backend.context === context)!;
    sampler = new MetricsSampler({
      backends: { all: () => backends, get },
      directory: { get: (ref) => fleet.get(formatRef(ref)) },
      clock,
      log: { info: () => undefined, warn: (fields) => void warnings.push(fields) },
    });
    sampler.start();
    return sampler;
  };
  const reader = (vm: Instance, backend: Backend): ReadMetrics =>
    new ReadMetrics(
      { resolve: () => vm, get: () => vm, waitFor: () => Promise.resolve() },
      { all: () => [backend], get: () => backend },
      sampler,
    );
  const given = (...instances: Instance[]): void => {
    for (const instance of instances) fleet.set(formatRef(instance.ref), instance);
  };
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await settled();
  };

  beforeEach(() => {
    clock = new FixedClock();
    warnings = [];
    fleet = new Map();
  });

  afterEach(() => {
    sampler.stop();
    expect(clock.pending).toBe(0);
  });

  test('samples at the start, soon again for the rates, and then every 15 seconds', async () => {
    const backend = new MemoryBackend('lab');
    const vm = buildVm({ status: 'Running' });
    backend.engine.put(vm);
    given(vm);
    over(backend);
    await settled();
    expect(sampler.latest(vm)).toMatchObject({ cpuMillicores: null, memoryUsedBytes: vm.memoryBytes / 4 });
    expect(sampler.latest(withStatus(vm, 'Stopped'))).toBeUndefined();
    await advance(2000);
    expect(sampler.latest(vm)).toMatchObject({ cpuMillicores: 3750, diskReadBytesPerSecond: 75_000 });
    await advance(5000);
    for (let i = 0; i < 300; i++) await advance(SAMPLE_INTERVAL_MS);
    const history = sampler.history(vm);
    expect(history).toHaveLength(240);
    expect(history.at(-1)).toMatchObject({ time: clock.now(), cpuMillicores: 500 });
    expect(history[0]!.time).toBe(clock.now() - 239 * SAMPLE_INTERVAL_MS);
    expect(sampler.nodeLoad('lab', 'memory-1')).toMatchObject({ cpuMillicores: 2000, memoryUsedBytes: 8 * 1024 ** 3 });
    expect(sampler.nodeLoad('lab', 'memory-9')).toBeUndefined();
  });

  test('never asks a context again before it has answered, and samples the others meanwhile', async () => {
    const slow = new ManualBackend('slow');
    const vm = buildVm({ ref: { context: 'lab' }, status: 'Running' });
    const other = new MemoryBackend('lab');
    other.engine.put(vm);
    given(vm);
    over(slow, other);
    for (let i = 0; i < 10; i++) await advance(SAMPLE_INTERVAL_MS);
    expect(slow.metrics.calls).toBe(1);
    expect(sampler.problem('slow')).toMatchObject({ code: 'BACKEND_TIMEOUT' });
    expect(sampler.latest(vm)?.time).toBe(clock.now());
    await slow.metrics.answer({ instances: [], nodes: [] });
    expect(sampler.problem('slow')).toBeUndefined();
    await advance(SAMPLE_INTERVAL_MS);
    expect(slow.metrics.calls).toBe(2);
  });

  test('keeps the history of a context that is lost, but no usage of the present', async () => {
    const backend = new ManualBackend('lab');
    const vm = buildVm({ status: 'Running' });
    given(vm);
    over(backend);
    await backend.metrics.answer({ instances: [reading(vm)], nodes: [] });
    const lost = new DomainError('BACKEND_UNREACHABLE', 'gone');
    for (let i = 0; i < 8; i++) {
      await advance(SAMPLE_INTERVAL_MS);
      await backend.metrics.answer(lost);
    }
    expect(sampler.latest(vm)).toBeUndefined();
    expect(sampler.history(vm)).toHaveLength(1);
    const reads = reader(vm, backend);
    expect(() => reads.live({ ...vm.ref })).toThrow(lost);
    expect(reads.history({ ...vm.ref })).toHaveLength(1);
    // The inventory reports a lost context.
    expect(warnings).toEqual([]);
  });

  test('forgets instances that were deleted, replaced or stopped an hour ago, and never records unknown ones', async () => {
    const backend = new ManualBackend('lab');
    const [kept, deleted, replaced, stopped] = ['kept', 'deleted', 'replaced', 'stopped'].map((name, i) =>
      buildVm({ ref: { name }, uid: `uid-${i}`, status: 'Running' }),
    ) as [Instance, Instance, Instance, Instance];
    given(kept, deleted, replaced, stopped);
    over(backend);
    const unknown = buildVm({ ref: { name: 'unknown' } });
    await backend.metrics.answer({
      instances: [kept, deleted, replaced, stopped, unknown, kept].map((one) => reading(one)),
      nodes: [],
    });
    expect(sampler.usage().instances).toBe(4);
    fleet.delete(formatRef(deleted.ref));
    const successor = { ...replaced, uid: 'uid-new' };
    given(successor);
    for (let i = 0; i < 3; i++) {
      await advance(SAMPLE_INTERVAL_MS);
      await backend.metrics.answer({ instances: [reading(kept), reading(successor, { cpuTimeMs: 7 })], nodes: [] });
    }
    expect(sampler.history(deleted)).toEqual([]);
    expect(sampler.history(replaced)).toEqual([]);
    expect(sampler.history(successor)[0]).toMatchObject({ cpuMillicores: null });
    expect(sampler.history(stopped)).toHaveLength(1);
    for (let i = 0; i <= HISTORY_MS / SAMPLE_INTERVAL_MS; i++) {
      await advance(SAMPLE_INTERVAL_MS);
      await backend.metrics.answer({ instances: [reading(kept)], nodes: [] });
    }
    expect(sampler.history(stopped)).toEqual([]);
    expect(sampler.usage().instances).toBe(1);
  });

  test('keeps its memory bounded while thousands of instances come and go', async () => {
    const backend = new ManualBackend('lab');
    over(backend);
    await backend.metrics.answer({ instances: [], nodes: [] });
    for (let round = 0; round < 20; round++) {
      fleet.clear();
      const vms = Array.from({ length: 500 }, (_none, i) =>
        buildVm({ ref: { name: `vm-${round}-${i}` }, uid: `${round}-${i}`, status: 'Running' }),
      );
      given(...vms);
      await advance(SAMPLE_INTERVAL_MS);
      await backend.metrics.answer({ instances: vms.map((vm) => reading(vm)), nodes: [] });
      expect(sampler.usage().instances).toBe(500);
    }
    expect(sampler.usage().bytes).toBeLessThan(500 * 1024);
  });

  test('passes on why a context is not measured, and warns once if it should be', async () => {
    const none = new MemoryBackend('none', { unavailable: { metrics: 'It cannot measure.' } });
    const backend = new ManualBackend('lab');
    over(none, backend);
    await settled();
    for (let i = 0; i < 3; i++) {
      await backend.metrics.answer(new DomainError('BACKEND_FORBIDDEN', 'Grant it that verb.'));
      await advance(SAMPLE_INTERVAL_MS);
    }
    expect(sampler.problem('none')).toMatchObject({ code: 'NOT_SUPPORTED', message: 'It cannot measure.' });
    expect(warnings).toEqual([{ context: 'lab', code: 'BACKEND_FORBIDDEN', err: 'Grant it that verb.' }]);
    const vm = buildVm({ ref: { context: 'none' } });
    const reads = reader(vm, none);
    expect(reads.live({ ...vm.ref })).toEqual({ reason: 'It cannot measure.' });
    expect(reads.history({ ...vm.ref })).toEqual([]);
  });

  test('ignores a reading that arrives after it was stopped', async () => {
    const backend = new ManualBackend('lab');
    const vm = buildVm({ status: 'Running' });
    given(vm);
    over(backend);
    sampler.stop();
    await backend.metrics.answer({ instances: [reading(vm)], nodes: [] });
    expect(sampler.history(vm)).toEqual([]);
  });
});
