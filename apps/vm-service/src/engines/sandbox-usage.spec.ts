import type { UsageStep } from '@headgate/domain-contracts';
import { SandboxUsage, type SandboxGuest } from './sandbox-usage.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A Wednesday, at the start of an hour. */
const NOW = Date.parse('2026-03-04T12:00:00Z');
const GIB = 1024 ** 3;
const vm = (name: string, more: Partial<SandboxGuest> = {}): SandboxGuest => ({
  ref: { kind: 'vm', context: 'sandbox', namespace: 'web', name },
  cpu: 4,
  memoryBytes: 8 * GIB,
  createdAt: NOW - 300 * DAY,
  startedAt: NOW - 90 * DAY,
  isRunning: true,
  ...more,
});
const MONTH = { from: NOW - 30 * DAY, to: NOW, stepMs: HOUR };
const LAST_DAY = { from: NOW - DAY, to: NOW, stepMs: 3 * MINUTE };

describe('the invented usage of the sandbox', () => {
  let seeds: typeof import('@headgate/kubevirt-sandbox');
  beforeAll(async () => {
    seeds = await import('@headgate/kubevirt-sandbox');
  });

  const usageOf = (...guests: SandboxGuest[]): SandboxUsage =>
    new SandboxUsage({
      guests: new Map(guests.map((guest) => [guest.ref.name, guest])),
      until: NOW,
      choose: seeds.seededNumber,
      meanOf: ({ kind, namespace, name }) =>
        kind === 'vm' ? seeds.meanVmUsage(namespace, name) : seeds.meanContainerUsage(namespace, name),
    });
  const stepsOf = (guest: SandboxGuest, range = MONTH): UsageStep[] =>
    usageOf(guest).steps({ uid: guest.ref.name }, range);

  test('has a step for each hour of 30 days, and ends when the cluster was opened', () => {
    const steps = stepsOf(vm('web-1'), { ...MONTH, to: NOW + DAY });
    expect(steps.map(({ time }) => time)).toEqual(Array.from({ length: 720 }, (_none, hour) => NOW - 30 * DAY + hour * HOUR)); // prettier-ignore
    expect(steps).toEqual(stepsOf(vm('web-1')));
  });

  test('leaves out the step that had not ended when the cluster was opened', () => {
    const last = stepsOf(vm('web-1'), { ...LAST_DAY, from: NOW - HOUR, stepMs: 45 * MINUTE }).at(-1)!;
    expect(last.time).toBe(NOW - HOUR);
  });

  test('stays within the CPUs and the memory, with maxima that are not below the averages', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const steps = names.flatMap((name) => stepsOf(vm(name, { startedAt: NOW - 5 * DAY })));
    const isRight = ({ average, maximum }: UsageStep): boolean =>
      (Object.keys(average) as (keyof typeof average)[]).every(
        (series) => Number.isInteger(average[series]) && average[series]! >= 0 && maximum[series]! >= average[series]!,
      ) &&
      maximum.cpuMillicores! <= 4000 &&
      maximum.memoryUsedBytes! <= 8 * GIB &&
      average.memoryTotalBytes === 8 * GIB;
    expect(steps).toHaveLength(8 * 720);
    expect(steps.filter((step) => !isRight(step))).toEqual([]);
  });

  test('differs between the hours of a day, and between guests', () => {
    const peaks = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => {
      const cpus = stepsOf(vm(name)).map(({ average }) => average.cpuMillicores!);
      expect(Math.max(...cpus)).toBeGreaterThan(1.1 * Math.min(...cpus));
      return cpus.indexOf(Math.max(...cpus)) % 24;
    });
    expect(new Set(peaks).size).toBeGreaterThan(1);
  });

  test('has in a long step the average and the maximum of the short ones', () => {
    const fine = stepsOf(vm('web-1'), LAST_DAY);
    const last = stepsOf(vm('web-1'), { from: NOW - HOUR, to: NOW, stepMs: HOUR })[0]!;
    const hour = fine.filter(({ time }) => time >= NOW - HOUR);
    expect(hour).toHaveLength(20);
    const mean = hour.reduce((sum, { average }) => sum + average.cpuMillicores!, 0) / 20;
    expect(Math.abs(last.average.cpuMillicores! - mean)).toBeLessThan(1);
    expect(last.maximum.cpuMillicores).toBe(Math.max(...hour.map(({ maximum }) => maximum.cpuMillicores!)));
  });

  test('approaches the averages that are measured from then on', () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const { load, traffic } = seeds.meanVmUsage('web', name);
      const { average } = stepsOf(vm(name), LAST_DAY).at(-1)!;
      expect(Math.abs(average.cpuMillicores! / (load * 4000) - 1)).toBeLessThan(0.35);
      expect(Math.abs(average.diskReadBytesPerSecond! / traffic!.read - 1)).toBeLessThan(0.5);
    }
  });

  test('begins when a guest was created', () => {
    const first = stepsOf(vm('new', { createdAt: NOW - 3 * DAY + MINUTE })).at(0)!;
    expect(first.time).toBe(NOW - 3 * DAY + HOUR);
  });

  test('of a stopped guest ended at least a day ago, and of one that is newer than that it is empty', () => {
    const last = stepsOf(vm('off', { isRunning: false })).at(-1)!;
    expect(last.time).toBeLessThan(NOW - DAY);
    expect(last.time).toBeGreaterThan(NOW - 22 * DAY);
    expect(stepsOf(vm('off', { isRunning: false, createdAt: NOW - HOUR }))).toEqual([]);
  });

  test('grows in the memory of some guests until they were restarted', () => {
    const startedAt = NOW - 4 * DAY;
    const drops = Array.from({ length: 12 }, (_none, index) => {
      const around = { from: startedAt - HOUR, to: startedAt, stepMs: HOUR };
      const steps = stepsOf(vm(`guest-${index}`, { startedAt }), around);
      const share = (time: number): number => steps.find((step) => step.time === time)!.average.memoryUsedBytes! / (8 * GIB); // prettier-ignore
      return share(startedAt - HOUR) - share(startedAt);
    });
    expect(drops.some((drop) => drop > 0.2)).toBe(true);
    expect(drops.some((drop) => drop < 0.1)).toBe(true);
  });

  test('of a container has neither disk nor network, like its measured usage', () => {
    const box = vm('box', { ref: { kind: 'ct', context: 'sandbox', namespace: 'dev', name: 'box' } });
    const { average } = stepsOf(box)[0]!;
    expect(average).toMatchObject({ diskReadBytesPerSecond: null, networkTransmitBytesPerSecond: null });
    expect(average.cpuMillicores).toBeGreaterThan(0);
  });

  test('is empty for any other object, also one of the same name', () => {
    const guest = vm('web-1');
    expect(usageOf(guest).steps({ uid: 'created-later' }, MONTH)).toEqual([]);
  });
});
