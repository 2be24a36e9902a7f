import type { InstanceReading } from '@headgate/domain-contracts';
import fc from 'fast-check';
import { loadBetween, usageBetween } from './rates.js';
import { SAMPLE_INTERVAL_MS } from './usage.js';

const T0 = Date.UTC(2026, 0, 1);
const reading = (values: Partial<InstanceReading> = {}): InstanceReading => ({
  ref: { kind: 'vm', context: 'lab', namespace: 'default', name: 'web' },
  cpuTimeMs: null,
  cpuMillicores: null,
  memoryUsedBytes: null,
  memoryTotalBytes: null,
  diskReadBytes: null,
  diskWrittenBytes: null,
  networkReceivedBytes: null,
  networkTransmittedBytes: null,
  ...values,
});
const between = (before: Partial<InstanceReading>, after: Partial<InstanceReading>, elapsedMs = SAMPLE_INTERVAL_MS) =>
  usageBetween({ time: T0, reading: reading(before) }, { time: T0 + elapsedMs, reading: reading(after) });

describe('usageBetween', () => {
  test('turns the growth of each counter into a rate', () => {
    expect(
      between(
        {
          cpuTimeMs: 1000,
          diskReadBytes: 0,
          diskWrittenBytes: 10,
          networkReceivedBytes: 5,
          networkTransmittedBytes: 0,
        },
        {
          cpuTimeMs: 23_500,
          diskReadBytes: 15_000,
          diskWrittenBytes: 10,
          networkReceivedBytes: 35,
          networkTransmittedBytes: 30_000_000,
          memoryUsedBytes: 7,
          memoryTotalBytes: 8,
        },
      ),
    ).toEqual({
      cpuMillicores: 1500,
      diskReadBytesPerSecond: 1000,
      diskWriteBytesPerSecond: 0,
      networkReceiveBytesPerSecond: 2,
      networkTransmitBytesPerSecond: 2_000_000,
      memoryUsedBytes: 7,
      memoryTotalBytes: 8,
    });
  });

  test('has no rate for the first reading, but what the engine measures as a rate', () => {
    const first = { time: T0, reading: reading({ cpuMillicores: 250, diskReadBytes: 9 }) };
    expect(usageBetween(undefined, first)).toMatchObject({ cpuMillicores: 250, diskReadBytesPerSecond: null });
  });

  test('has no rate when a counter has started again, nor an absurd one after that', () => {
    expect(between({ cpuTimeMs: 90_000, diskReadBytes: 5000 }, { cpuTimeMs: 200, diskReadBytes: 5000 })).toMatchObject({
      cpuMillicores: null,
      diskReadBytesPerSecond: 0,
    });
    expect(between({ cpuTimeMs: 200 }, { cpuTimeMs: 1700 })).toMatchObject({ cpuMillicores: 100 });
  });

  test.each([0, -1, -3_600_000, 60_001])('has no rate over %d ms', (elapsedMs) => {
    expect(between({ cpuTimeMs: 0 }, { cpuTimeMs: 100 }, elapsedMs).cpuMillicores).toBeNull();
  });

  test('never has a negative rate, whatever the counters and the clock do', () => {
    const counter = fc.option(fc.maxSafeNat());
    fc.assert(
      fc.property(counter, counter, fc.integer(), (before, after, elapsedMs) => {
        const { cpuMillicores, diskReadBytesPerSecond } = between(
          { cpuTimeMs: before, diskReadBytes: before },
          { cpuTimeMs: after, diskReadBytes: after },
          elapsedMs,
        );
        for (const value of [cpuMillicores, diskReadBytesPerSecond]) {
          if (value === null) continue;
          expect(Number.isFinite(value)).toBe(true);
          expect(value).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });

  test('computes the load of a node by the same rules', () => {
    const node = (cpuTimeMs: number) => ({ name: 'n', cpuTimeMs, cpuMillicores: null, memoryUsedBytes: 5 });
    const before = { time: T0, reading: node(0) };
    expect(loadBetween(undefined, before)).toEqual({ time: T0, cpuMillicores: null, memoryUsedBytes: 5 });
    expect(loadBetween(before, { time: T0 + 1000, reading: node(3000) }).cpuMillicores).toBe(3000);
    expect(loadBetween({ time: T0, reading: node(9) }, { time: T0 + 1000, reading: node(3) }).cpuMillicores).toBeNull();
  });
});
