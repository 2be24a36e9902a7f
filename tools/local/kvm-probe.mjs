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
 * `reason` is one sentence. `cached` is true for a result of the same boot, kernel and QEMU version.
 * @typedef {{ usable: boolean, reason: string, cached: boolean }} KvmResult
 */

/**
 * @typedef {object} ProbeOptions
 * @property {string} [qemu] the QEMU program
 * @property {string} [directory] the folder of the cached result
 * @property {boolean} [fresh] ignore a cached result
 * @property {number} [timeoutMs] time limit of the probe; KVM takes 0.1 s
 * @property {string} [device]
 * @property {string} [accelerator] for tests, on machines without KVM
 */

/**
 * Whether KVM can run guests on this machine. `/dev/kvm` may exist and hang, so this runs a minimal guest. Never
 * rejects. The first call takes up to `timeoutMs`, later ones a few milliseconds.
 * @param {ProbeOptions} [options]
 * @returns {Promise<KvmResult>}
 */
export async function probeKvm({
  qemu = 'qemu-system-x86_64',
  directory = cacheDir(),
  fresh = false,
  timeoutMs = 3_000,
  device = '/dev/kvm',
  accelerator = 'kvm',
} = {}) {
  const obstacle = whyUnusable(device);
  if (obstacle) return { usable: false, reason: obstacle, cached: false };
  const version = await versionOf(qemu);
  if (version === undefined) return { usable: false, reason: `${qemu} cannot be run.`, cached: false };

  const key = [bootId(), release(), version, accelerator].join(' ');
  const cacheFile = join(directory, 'kvm-probe.json');
  const cached = fresh ? undefined : readCache(cacheFile, key);
  if (cached) return { ...cached, cached: true };
  const result = await runProbe(qemu, accelerator, timeoutMs);
  writeCache(cacheFile, key, result);
  return { ...result, cached: false };
}

/** @param {string} device */
function whyUnusable(device) {
  if (!existsSync(device)) return `This machine has no ${device}.`;
  try {
    accessSync(device, constants.R_OK | constants.W_OK);
    return undefined;
  } catch {
    return `This user may not open ${device}: run \`sudo usermod -aG kvm $USER\` and log in again.`;
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
    const { code, timedOut, stderr } = await runWithTimeout(timeoutMs, qemu, [
      ...['-accel', accelerator, '-cpu', 'max', '-machine', 'pc', '-m', '16', '-bios', rom],
      ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
      ...['-device', 'isa-debug-exit,iobase=0xf4,iosize=1'],
    ]);
    if (timedOut) return { usable: false, reason: `KVM did not finish a test program within ${timeoutMs / 1000} s.` };
    if (code === PROBE_EXIT_CODE) return { usable: true, reason: 'KVM ran a test program successfully.' };
    const detail = stderr.trim().split('\n').at(-1) || `exit code ${code}`;
    return { usable: false, reason: `KVM did not run a test program correctly (${detail}).` };
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
function runWithTimeout(timeoutMs, file, args) {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      // A process that hangs in the kernel may not exit even now, so it is not awaited.
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
function readCache(file, key) {
  try {
    const { key: cachedKey, usable, reason } = JSON.parse(readFileSync(file, 'utf8'));
    return cachedKey === key && typeof usable === 'boolean' ? { usable, reason: String(reason) } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * @param {string} file
 * @param {string} key
 * @param {{ usable: boolean, reason: string }} result
 */
function writeCache(file, key, result) {
  try {
    mkdirSync(join(file, '..'), { recursive: true });
    const temporary = `${file}.${process.pid}`;
    writeFileSync(temporary, JSON.stringify({ key, ...result }));
    renameSync(temporary, file);
  } catch {
    // Without a writable cache, the next call probes again.
  }
}

if (process.argv[1] === import.meta.filename) {
  console.log(JSON.stringify(await probeKvm({ fresh: process.argv.includes('--fresh') })));
}
