import 'reflect-metadata';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  formatRef,
  ResourceMetrics,
  UnavailableAbility,
  type Abilities,
  type AbilityName,
  type Instance,
  type InstanceReading,
  type ResourceReadings,
} from '@headgate/domain-contracts';
import { MetricsSampler, SAMPLE_INTERVAL_MS } from '@headgate/metrics';
import { buildVm, FixedClock, MemoryBackend } from '@headgate/testing';

// The sampler with many running VMs, for tools/bench: `sampling.bench COUNT`, with --expose-gc. Prints one line of
// JSON: `tickMs`, the CPU time of one sample of all VMs, and `seriesBytes`, the memory of an hour of samples per VM and
// series.

const count = Number(process.argv[2]);
const SAMPLES = 240;
/** Seven values and the time. */
const SERIES = 8;

const heap = (): number => {
  gc!();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

/** Guests whose values change with every reading, by amounts as of busy guests. */
class BusyGuests extends ResourceMetrics {
  private turn = 0;

  constructor(private readonly instances: readonly Instance[]) {
    super();
  }

  override async read(): Promise<ResourceReadings> {
    this.turn++;
    return { instances: this.instances.map((instance, index) => this.readingOf(instance, index)), nodes: [] };
  }

  private readingOf({ ref, memoryBytes }: Instance, index: number): InstanceReading {
    const noise = (this.turn * 7919 + index * 104_729) % 9973;
    return {
      ref,
      cpuTimeMs: this.turn * 5000 + noise,
      cpuMillicores: null,
      memoryUsedBytes: memoryBytes / 2 + noise * 4096,
      memoryTotalBytes: memoryBytes,
      diskReadBytes: this.turn * 2_000_000 + noise * 300,
      diskWrittenBytes: this.turn * 4_000_000 + noise * 500,
      networkReceivedBytes: this.turn * 1_000_000 + noise * 200,
      networkTransmittedBytes: this.turn * 500_000 + noise * 100,
    };
  }
}

class BusyBackend extends MemoryBackend {
  constructor(private readonly metrics: ResourceMetrics) {
    super('lab');
  }

  override ability<K extends AbilityName>(name: K): Abilities[K] | UnavailableAbility {
    return name === 'metrics' ? (this.metrics as unknown as Abilities[K]) : super.ability(name);
  }
}

const instances = Array.from({ length: count }, (_none, index) =>
  buildVm({ ref: { name: `vm-${index}` }, uid: String(index), status: 'Running' }),
);
const byRef = new Map<string, Instance>(instances.map((instance) => [formatRef(instance.ref), instance]));
const backend = new BusyBackend(new BusyGuests(instances));
const clock = new FixedClock();
const before = heap();
const sampler = new MetricsSampler({
  backends: { all: () => [backend], get: () => backend },
  directory: { get: (ref) => byRef.get(formatRef(ref)) },
  clock,
});
sampler.start();
const began = process.cpuUsage();
for (let sample = 0; sample < SAMPLES; sample++) {
  await nextTurn();
  clock.advance(SAMPLE_INTERVAL_MS);
}
const { user, system } = process.cpuUsage(began);
await nextTurn();
const { instances: sampled } = sampler.usage();
if (sampled !== count) throw new Error(`${sampled} VMs were sampled instead of ${count}`);
const seriesBytes = (heap() - before) / count / SERIES;
sampler.stop();
process.stdout.write(`${JSON.stringify({ tickMs: (user + system) / 1000 / SAMPLES, seriesBytes })}\n`);
