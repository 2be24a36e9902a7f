import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './machine.mjs';
import { probeKvm } from './kvm-probe.mjs';

const withQemu = findProgram('qemu-system-x86_64') ? describe : describe.skip;

withQemu('probeKvm with the real QEMU', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'kvm-probe-int-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  test('its program completes on a working processor', async () => {
    // Software emulation is a working processor; the device only has to exist.
    const answer = await probeKvm({ directory, accelerator: 'tcg', device: '/dev/null', timeoutMs: 60_000 });
    expect(answer).toEqual({ usable: true, reason: expect.any(String), cached: false });
  });

  test('probes this machine, and caches the result', async () => {
    const first = await probeKvm({ directory, timeoutMs: 3_000 });
    const second = await probeKvm({ directory, timeoutMs: 3_000 });
    expect(second.usable).toBe(first.usable);
    expect(second.reason).toBe(first.reason);
  });
});
