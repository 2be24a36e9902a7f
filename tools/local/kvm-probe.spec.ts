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

/** A program in QEMU's place: it answers --version, and does `whenRun` for a probe, which it counts. */
function qemuThat(whenRun: string, version = 'QEMU emulator version 7.2.22'): string {
  const file = join(directory, 'qemu');
  const lines = ['#!/bin/sh', `[ "$1" = --version ] && { echo "${version}"; exit 0; }`, `echo run >> ${runs}`, whenRun];
  writeFileSync(file, lines.join('\n'));
  chmodSync(file, 0o755);
  return file;
}

/** `/dev/null` stands for a device that may be opened. */
const probe = (qemu: string, options = {}) => probeKvm({ qemu, directory, device: '/dev/null', ...options });
const countRuns = () => (existsSync(runs) ? readFileSync(runs, 'utf8').trim().split('\n').length : 0);

describe('probeKvm', () => {
  test('calls KVM usable when the program ends with the number it computes', async () => {
    const answer = await probe(qemuThat(`exit ${PROBE_EXIT_CODE}`));
    expect(answer).toEqual({ usable: true, reason: expect.stringContaining('as it should'), cached: false });
  });

  test('calls KVM unusable when the program computes something else', async () => {
    const answer = await probe(qemuThat('exit 1'));
    expect(answer).toEqual({ usable: false, reason: expect.stringContaining('exit code 1'), cached: false });
  });

  test('says what QEMU says when it refuses', async () => {
    const answer = await probe(qemuThat('echo "failed to initialize kvm: No such device" >&2; exit 1'));
    expect(answer.reason).toContain('failed to initialize kvm: No such device');
  });

  test('kills a program that hangs, and calls KVM unusable', async () => {
    const pidFile = join(directory, 'pid');
    const answer = await probe(qemuThat(`echo $$ > ${pidFile}; while :; do :; done`), { timeoutMs: 300 });
    expect(answer).toEqual({ usable: false, reason: expect.stringContaining('within 0.3 s'), cached: false });
    expect(await isGone(Number(readFileSync(pidFile, 'utf8')))).toBe(true);
  });

  test('remembers the answer', async () => {
    const qemu = qemuThat('exit 1');
    const first = await probe(qemu);
    expect(await probe(qemu)).toEqual({ ...first, cached: true });
    expect(countRuns()).toBe(1);
  });

  test('asks again when QEMU is another one, when told to, and when what is remembered cannot be read', async () => {
    await probe(qemuThat('exit 1'));
    await probe(qemuThat('exit 1', 'QEMU emulator version 10.0.0'));
    expect(countRuns()).toBe(2);
    await probe(qemuThat('exit 1', 'QEMU emulator version 10.0.0'), { fresh: true });
    expect(countRuns()).toBe(3);
    writeFileSync(join(directory, 'kvm-probe.json'), '{"key":');
    await probe(qemuThat('exit 1', 'QEMU emulator version 10.0.0'));
    expect(countRuns()).toBe(4);
  });

  test('runs nothing when the machine has no such device', async () => {
    const answer = await probe(qemuThat(`exit ${PROBE_EXIT_CODE}`), { device: join(directory, 'kvm') });
    expect(answer.usable).toBe(false);
    expect(answer.reason).toContain('has no');
    expect(countRuns()).toBe(0);
  });

  test('answers, and does not throw, when QEMU is missing', async () => {
    const answer = await probe(join(directory, 'no-qemu'));
    expect(answer).toEqual({ usable: false, reason: expect.stringContaining('cannot be run'), cached: false });
  });

  test('answers when its folder cannot be written', async () => {
    writeFileSync(join(directory, 'file'), '');
    const answer = await probe(qemuThat(`exit ${PROBE_EXIT_CODE}`), { directory: join(directory, 'file', 'below') });
    expect(answer.usable).toBe(true);
  });
});

/** The killed process is a zombie until this process has heard of its end. */
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
