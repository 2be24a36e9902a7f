import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROBE_EXIT_CODE } from './kvm-probe-rom.mjs';
import { probeKvm } from './kvm-probe.mjs';

let directory: string;
let runs: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kvm-probe-spec-'));
  runs = join(directory, 'runs');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A fake QEMU that supports --version, counts its probe runs and executes `script` for each. */
function fakeQemu(script: string, version = 'QEMU emulator version 7.2.22'): string {
  const file = join(directory, 'qemu');
  const lines = ['#!/bin/sh', `[ "$1" = --version ] && { echo "${version}"; exit 0; }`, `echo run >> ${runs}`, script];
  writeFileSync(file, lines.join('\n'));
  chmodSync(file, 0o755);
  return file;
}

/** `/dev/null` is a device that can be opened. */
const probe = (qemu: string, options = {}) => probeKvm({ qemu, directory, device: '/dev/null', ...options });
const countRuns = () => (existsSync(runs) ? readFileSync(runs, 'utf8').trim().split('\n').length : 0);

describe('probeKvm', () => {
  test('reports KVM as usable if the program exits with the computed value', async () => {
    const answer = await probe(fakeQemu(`exit ${PROBE_EXIT_CODE}`));
    expect(answer).toEqual({ usable: true, reason: expect.stringContaining('successfully'), cached: false });
  });

  test('reports KVM as unusable if the program computes another value', async () => {
    const answer = await probe(fakeQemu('exit 1'));
    expect(answer).toEqual({ usable: false, reason: expect.stringContaining('exit code 1'), cached: false });
  });

  test("includes QEMU's error message", async () => {
    const answer = await probe(fakeQemu('echo "failed to initialize kvm: No such device" >&2; exit 1'));
    expect(answer.reason).toContain('failed to initialize kvm: No such device');
  });

  test('kills a hanging program and reports KVM as unusable', async () => {
    const pidFile = join(directory, 'pid');
    const answer = await probe(fakeQemu(`echo $$ > ${pidFile}; while :; do :; done`), { timeoutMs: 2000 });
    expect(answer).toEqual({ usable: false, reason: expect.stringContaining('within 2 s'), cached: false });
    expect(await isGone(Number(readFileSync(pidFile, 'utf8')))).toBe(true);
  });

  test('caches the result', async () => {
    const qemu = fakeQemu('exit 1');
    const first = await probe(qemu);
    expect(await probe(qemu)).toEqual({ ...first, cached: true });
    expect(countRuns()).toBe(1);
  });

  test('probes again for another QEMU version, on request, and if the cache is unreadable', async () => {
    await probe(fakeQemu('exit 1'));
    await probe(fakeQemu('exit 1', 'QEMU emulator version 10.0.0'));
    expect(countRuns()).toBe(2);
    await probe(fakeQemu('exit 1', 'QEMU emulator version 10.0.0'), { fresh: true });
    expect(countRuns()).toBe(3);
    writeFileSync(join(directory, 'kvm-probe.json'), '{"key":');
    await probe(fakeQemu('exit 1', 'QEMU emulator version 10.0.0'));
    expect(countRuns()).toBe(4);
  });

  test('runs nothing if the device does not exist', async () => {
    const answer = await probe(fakeQemu(`exit ${PROBE_EXIT_CODE}`), { device: join(directory, 'kvm') });
    expect(answer.usable).toBe(false);
    expect(answer.reason).toContain('has no');
    expect(countRuns()).toBe(0);
  });

  test('does not throw if QEMU is missing', async () => {
    const answer = await probe(join(directory, 'no-qemu'));
    expect(answer).toEqual({ usable: false, reason: expect.stringContaining('cannot be run'), cached: false });
  });

  test('works without a writable folder', async () => {
    writeFileSync(join(directory, 'file'), '');
    const answer = await probe(fakeQemu(`exit ${PROBE_EXIT_CODE}`), { directory: join(directory, 'file', 'below') });
    expect(answer.usable).toBe(true);
  });
});

/** The killed process stays a zombie until this process has reaped it. */
async function isGone(pid: number): Promise<boolean> {
  for (let turn = 0; turn < 500; turn++) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return false;
}
