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
import { buildVm, FixedClock, ManualReplica, MemoryBackend, SharedSamples, withStatus } from '@headgate/testing';
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
  let recorded: string[];
  let fleet: Map<string, Instance>;

  const over = (...backends: Backend[]): MetricsSampler => {
    const get = (context: string): Backend => backends.find((backend) => backend.context === context)!;
    sampler = new MetricsSampler({
      backends: { all: () => backends, get },
      directory: { get: (ref) => fleet.get(formatRef(ref)) },
      clock,
      log: { info: () => undefined, warn: (fields) => void warnings.push(fields) },
      recorder: {
        record: ({ ref, uid }, { time }) => void recorded.push(`${ref.context} ${uid} ${time}`),
        carryOver: (from, to) => void recorded.push(`${from.ref.context} -> ${to.ref.context}`),
      },
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
    recorded = [];
    fleet = new Map();
  });

  afterEach(() => {
    sampler.stop();
    expect(clock.pending).toBe(0);
  });

  test('samples a context from when it is attached until it is detached', async () => {
    over();
    const backend = new MemoryBackend('far');
    const vm = buildVm({ ref: { context: 'far' }, status: 'Running' });
    backend.engine.put(vm);
    given(vm);
    sampler.attach(backend);
    await advance(2000);
    expect(sampler.latest(vm)).toMatchObject({ memoryUsedBytes: vm.memoryBytes / 4 });
    sampler.detach('far');
    expect([sampler.latest(vm), sampler.history(vm), clock.pending]).toEqual([undefined, [], 0]);
  });

  test('samples another backend in place of one, whose samples stay and whose late reading does not count', async () => {
    over();
    const [former, next] = [new ManualBackend('far'), new ManualBackend('far')];
    const vm = buildVm({ ref: { context: 'far' }, status: 'Running' });
    given(vm);
    sampler.attach(former);
    await former.metrics.answer({ instances: [reading(vm)], nodes: [] });
    await advance(2000);
    sampler.replace(next);
    await former.metrics.answer({ instances: [reading(vm, { memoryUsedBytes: 666 })], nodes: [] });
    await next.metrics.answer({ instances: [reading(vm, { memoryUsedBytes: 2 })], nodes: [] });
    expect(sampler.history(vm).map(({ memoryUsedBytes }) => memoryUsedBytes)).toEqual([1, 2]);
    for (let i = 0; i < 4; i++) await advance(SAMPLE_INTERVAL_MS);
    expect(former.metrics.calls).toBe(2);
    sampler.replace(new ManualBackend('new'));
    sampler.detach('new');
    sampler.detach('far');
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

  test('reports each reading of a context, also one that failed', async () => {
    const backend = new ManualBackend('lab');
    const vm = buildVm({ status: 'Running' });
    given(vm);
    over(backend);
    const seen: string[] = [];
    const unsubscribe = sampler.subscribe((context) =>
      seen.push(`${context} ${String(sampler.latest(vm)?.memoryUsedBytes)}`),
    );
    await backend.metrics.answer({ instances: [reading(vm)], nodes: [] });
    expect(seen).toEqual(['lab 1']);
    await advance(2000);
    await backend.metrics.answer(new DomainError('BACKEND_UNREACHABLE', 'lab does not answer.'));
    expect(seen).toEqual(['lab 1', 'lab 1']);
    unsubscribe();
    await advance(5000);
    await backend.metrics.answer({ instances: [reading(vm, { memoryUsedBytes: 2 })], nodes: [] });
    expect(seen).toHaveLength(2);
  });

  describe('of an instance that has another ref', () => {
    const times = (vm: Instance): number[] => sampler.history(vm).map(({ time }) => time);
    const [there, here] = ['there', 'here'].map((context) =>
      buildVm({ ref: { context }, uid: 'the same', status: 'Running' }),
    ) as [Instance, Instance];
    let target: ManualBackend;

    beforeEach(async () => {
      const source = new MemoryBackend('there');
      source.engine.put(there as ReturnType<typeof buildVm>);
      target = new ManualBackend('here');
      given(there, here);
      over(source, target);
      await settled();
      await advance(2000);
    });

    test('has the earlier samples, and no rate between the counters of two contexts', async () => {
      const before = times(there);
      expect(before).toHaveLength(2);
      await target.metrics.answer({ instances: [], nodes: [] });
      sampler.carryOver(there, here);
      expect(times(here)).toEqual(before);
      expect(recorded).toEqual([...before.map((time) => `there the same ${time}`), 'there -> here']);
      expect(sampler.latest(here)).toMatchObject({ cpuMillicores: 3750 });
      await advance(5000);
      await target.metrics.answer({ instances: [reading(here, { cpuTimeMs: 1_000_000 })], nodes: [] });
      expect(times(here)).toEqual([...before, clock.now()]);
      expect(sampler.latest(here)?.cpuMillicores).toBeNull();
    });

    test('keeps the samples that it has already, after the earlier ones', async () => {
      const before = times(there);
      await target.metrics.answer({ instances: [], nodes: [] });
      await advance(5000);
      await target.metrics.answer({ instances: [reading(here)], nodes: [] });
      const own = times(here);
      expect(own).toHaveLength(1);
      sampler.carryOver(there, here);
      sampler.carryOver(there, here);
      expect(times(here).slice(0, before.length)).toEqual(before);
      expect(times(here).at(-1)).toBe(own[0]);
      expect(new Set(times(here)).size).toBe(times(here).length);
    });

    test('has nothing of another object of the same name', () => {
      sampler.carryOver({ ref: there.ref, uid: 'another' }, here);
      sampler.carryOver(there, { ref: { ...here.ref, context: 'unknown' }, uid: 'the same' });
      expect(times(here)).toEqual([]);
    });
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

describe('MetricsSampler of several replicas', () => {
  const vm = buildVm({ status: 'Running' });
  let clock: FixedClock;
  let samples: SharedSamples;
  let samplers: MetricsSampler[];

  /** A replica with a connection of its own to the context. */
  const join = () => {
    const backend = new ManualBackend('lab');
    const replica = new ManualReplica();
    const recorded: number[] = [];
    const sampler = new MetricsSampler({
      backends: { all: () => [backend], get: () => backend },
      directory: { get: () => vm },
      clock,
      replicas: replica,
      exchange: samples.join(),
      recorder: { record: (_vm, { time }) => void recorded.push(time), carryOver: () => undefined },
    });
    samplers.push(sampler);
    sampler.start();
    const readings = (cpuTimeMs: number): ResourceReadings => ({
      instances: [reading(vm, { cpuTimeMs })],
      nodes: [{ name: 'n1', cpuTimeMs, cpuMillicores: null, memoryUsedBytes: 7 }],
    });
    return {
      backend,
      replica,
      sampler,
      recorded,
      answer: (cpuTimeMs: number) => backend.metrics.answer(readings(cpuTimeMs)),
    };
  };

  beforeEach(() => {
    clock = new FixedClock();
    samples = new SharedSamples();
    samplers = [];
  });

  afterEach(() => {
    for (const sampler of samplers) sampler.stop();
    expect(clock.pending).toBe(0);
  });

  test('reads in the leader only, and shows the same in all', async () => {
    const [a, b] = [join(), join()];
    a.replica.elect();
    await a.answer(0);
    clock.advance(2000);
    await a.answer(1000);
    clock.advance(5000);
    await a.answer(6000);
    expect([a.backend.metrics.calls, b.backend.metrics.calls]).toEqual([3, 0]);
    expect(b.sampler.history(vm)).toEqual(a.sampler.history(vm));
    expect(a.recorded).toHaveLength(3);
    expect(b.recorded).toEqual(a.recorded);
    expect(b.sampler.history(vm).map(({ cpuMillicores }) => cpuMillicores)).toEqual([null, 500, 1000]);
    expect(b.sampler.latest(vm)).toMatchObject({ cpuMillicores: 1000 });
    expect([b.sampler.nodeLoad('lab', 'n1'), a.sampler.nodeLoad('lab', 'n1')]).toEqual([
      { time: clock.now(), cpuMillicores: 1000, memoryUsedBytes: 7 },
      { time: clock.now(), cpuMillicores: 1000, memoryUsedBytes: 7 },
    ]);
  });

  test('continues the history of the former leader, with rates from the first reading on', async () => {
    const [a, b] = [join(), join()];
    a.replica.elect();
    await a.answer(0);
    a.replica.depose();
    clock.advance(17_000);
    b.replica.elect();
    await b.answer(1700);
    expect(b.sampler.history(vm).map(({ cpuMillicores }) => cpuMillicores)).toEqual([null, 100]);
    expect(a.sampler.history(vm)).toEqual(b.sampler.history(vm));
    clock.advance(SAMPLE_INTERVAL_MS);
    expect([a.backend.metrics.calls, b.backend.metrics.calls]).toEqual([1, 2]);
  });

  test('does not use a reading that ends after the replica is no longer the leader', async () => {
    const [a, b] = [join(), join()];
    a.replica.elect();
    a.replica.depose();
    b.replica.elect();
    await b.answer(5);
    clock.advance(1000);
    await a.answer(99_000);
    expect([a.sampler.history(vm), b.sampler.history(vm)].map((history) => history.length)).toEqual([1, 1]);
    // It reads again when it is elected again.
    b.replica.depose();
    a.replica.elect();
    await a.answer(105);
    expect(b.sampler.history(vm).map(({ cpuMillicores }) => cpuMillicores)).toEqual([null, 100]);
  });

  test('shows a sample of a leader that is gone as unknown after a minute, as any other', async () => {
    const [a, b] = [join(), join()];
    a.replica.elect();
    await a.answer(0);
    a.replica.depose();
    clock.advance(60_000);
    expect(b.sampler.latest(vm)).toMatchObject({ memoryUsedBytes: 1 });
    clock.advance(1);
    expect([b.sampler.latest(vm), b.sampler.nodeLoad('lab', 'n1')]).toEqual([undefined, undefined]);
    // A replica that joins now gets the old round, and does not show it either.
    const c = join();
    expect([c.sampler.latest(vm), c.sampler.history(vm).length]).toEqual([undefined, 1]);
  });

  test('gives the others the reason why the leader could not read, until it can', async () => {
    const [a, b] = [join(), join()];
    a.replica.elect();
    await a.backend.metrics.answer(new DomainError('BACKEND_FAILED', 'lab has no metrics-server.'));
    expect(b.sampler.problem('lab')).toMatchObject({ code: 'BACKEND_FAILED', message: 'lab has no metrics-server.' });
    clock.advance(2000);
    await a.answer(1);
    expect(b.sampler.problem('lab')).toBeUndefined();
  });

  test('samples although the others can not be reached', async () => {
    const a = join();
    a.replica.elect();
    samples.replicas.forEach((exchange) => {
      exchange.publish = () => Promise.reject(new DomainError('BACKEND_UNREACHABLE', 'The store does not answer.'));
    });
    await a.answer(1);
    expect(a.sampler.latest(vm)).toMatchObject({ memoryUsedBytes: 1 });
  });
});
