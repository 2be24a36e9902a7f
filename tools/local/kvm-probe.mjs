// node tools/local/kvm-probe.mjs [--fresh]    prints {"usable":…,"reason":"…"} as JSON
import { execFile, spawn } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDir } from './cache-dir.mjs';
import { PROBE_EXIT_CODE, probeRom } from './kvm-probe-rom.mjs';

/**
 * `reason` is one sentence. `cached` tells that an answer of this boot, kernel and QEMU was remembered.
 * @typedef {{ usable: boolean, reason: string, cached: boolean }} KvmAnswer
 */

/**
 * @typedef {object} ProbeOptions
 * @property {string} [qemu] the program
 * @property {string} [directory] where the answer is remembered
 * @property {boolean} [fresh] run the probe even if its answer is remembered
 * @property {number} [timeoutMs] how long the probe may take: real KVM needs 0.1 s
 * @property {string} [device]
 * @property {string} [accelerator] for tests, on machines without KVM
 */

/**
 * Whether KVM runs guests on this machine: `/dev/kvm` may be there and hang, so a guest without any software is run. It
 * never rejects; the first call takes up to `timeoutMs`, later ones a few milliseconds.
 * @param {ProbeOptions} [options]
 * @returns {Promise<KvmAnswer>}
 */
export async function probeKvm({
  qemu = 'qemu-system-x86_64',
  directory = cacheDir(),
  fresh = false,
  timeoutMs = 3_000,
  device = '/dev/kvm',
  accelerator = 'kvm',
} = {}) {
  const hindrance = whyNot(device);
  if (hindrance) return { usable: false, reason: hindrance, cached: false };
  const version = await versionOf(qemu);
  if (version === undefined) return { usable: false, reason: `${qemu} cannot be run.`, cached: false };

  const key = [bootId(), release(), version, accelerator].join(' ');
  const memory = join(directory, 'kvm-probe.json');
  const remembered = fresh ? undefined : recall(memory, key);
  if (remembered) return { ...remembered, cached: true };
  const answer = await runProbe(qemu, accelerator, timeoutMs);
  remember(memory, key, answer);
  return { ...answer, cached: false };
}

/** @param {string} device */
function whyNot(device) {
  if (!existsSync(device)) return `This machine has no ${device}.`;
  try {
    accessSync(device, constants.R_OK | constants.W_OK);
    return undefined;
  } catch {
    return `This user may not open ${device}: type \`sudo usermod -aG kvm $USER\` and log in again.`;
  }
}

/**
 * @param {string} qemu
 * @param {string} accelerator
 * @param {number} timeoutMs
 * @returns {Promise<{ usable: boolean, reason: string }>}
 */
async function runProbe(qemu, accelerator, timeoutMs) {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-kvm-'));
  try {
    const rom = join(folder, 'probe.rom');
    writeFileSync(rom, probeRom());
    const { code, timedOut, stderr } = await runUpTo(timeoutMs, qemu, [
      ...['-accel', accelerator, '-cpu', 'max', '-machine', 'pc', '-m', '16', '-bios', rom],
      ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
      ...['-device', 'isa-debug-exit,iobase=0xf4,iosize=1'],
    ]);
    if (timedOut) return { usable: false, reason: `KVM did not run a small program within ${timeoutMs / 1000} s.` };
    if (code === PROBE_EXIT_CODE) return { usable: true, reason: 'KVM ran a small program as it should.' };
    const said = stderr.trim().split('\n').at(-1) || `exit code ${code}`;
    return { usable: false, reason: `KVM did not run a small program as it should (${said}).` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {number} timeoutMs
 * @param {string} file
 * @param {string[]} args
 * @returns {Promise<{ code: number | null, timedOut: boolean, stderr: string }>}
 */
function runUpTo(timeoutMs, file, args) {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      // A process that hangs inside the kernel may not even end now: it is not waited for.
      child.unref();
      child.stderr.destroy();
      resolve({ code: null, timedOut: true, stderr });
    }, timeoutMs);
    child.once('error', (error) => {
      clearTimeout(timer);
      resolve({ code: null, timedOut: false, stderr: error.message });
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code, timedOut: false, stderr });
    });
  });
}

/** @param {string} qemu */
async function versionOf(qemu) {
  try {
    const { stdout } = await promisify(execFile)(qemu, ['--version'], { timeout: 10_000 });
    return stdout.split('\n')[0];
  } catch {
    return undefined;
  }
}

function bootId() {
  const file = '/proc/sys/kernel/random/boot_id';
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : 'no boot id';
}

/**
 * @param {string} file
 * @param {string} key
 * @returns {{ usable: boolean, reason: string } | undefined}
 */
function recall(file, key) {
  try {
    const { key: known, usable, reason } = JSON.parse(readFileSync(file, 'utf8'));
    return known === key && typeof usable === 'boolean' ? { usable, reason: String(reason) } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * @param {string} file
 * @param {string} key
 * @param {{ usable: boolean, reason: string }} answer
 */
function remember(file, key, answer) {
  try {
    mkdirSync(join(file, '..'), { recursive: true });
    const temporary = `${file}.${process.pid}`;
    writeFileSync(temporary, JSON.stringify({ key, ...answer }));
    renameSync(temporary, file);
  } catch {
    // A cache that cannot be written costs the next caller the probe, nothing else.
  }
}

if (process.argv[1] === import.meta.filename) {
  console.log(JSON.stringify(await probeKvm({ fresh: process.argv.includes('--fresh') })));
}
