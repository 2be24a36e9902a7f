// Backs a running guest up whose disk has changed by 1 MiB. Started by tools/bench/backups.bench.mjs, which reads the
// figures from standard output.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BackupLab, labRef } from '../testing/backup-lab.js';

const run = promisify(execFile);
const MIB = 1024 ** 2;
const DISK_MIB = Number(process.env['HEADGATE_BENCH_DISK_MIB'] ?? 4096);
const PATTERN_BYTES = 64 * 1024;
const ROUNDS = 3;
const UNPRIVILEGED_ID = 65534;

/** Full, and no block is the duplicate of another one. Most of each block can be compressed. */
async function makeDisk(path: string): Promise<void> {
  const raw = `${path}.raw`;
  const file = await open(raw, 'w');
  const block = Buffer.alloc(MIB, randomBytes(PATTERN_BYTES));
  for (let at = 0; at < DISK_MIB; at++) {
    randomBytes(PATTERN_BYTES).copy(block);
    await file.write(block, 0, MIB, at * MIB);
  }
  await file.close();
  await run('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', raw, path]);
  await rm(raw);
  await chown(path, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
}

const domainXml = (name: string, disk: string, hasThread: boolean): string => `
<domain type='qemu'>
  <name>${name}</name><memory unit='MiB'>64</memory><vcpu>1</vcpu>${hasThread ? '<iothreads>1</iothreads>' : ''}
  <os><type arch='x86_64' machine='pc'>hvm</type></os>
  <devices>
    <disk type='file' device='disk'>
      <driver name='qemu' type='qcow2'${hasThread ? " iothread='1'" : ''}/>
      <source file='${disk}'/><target dev='vda' bus='virtio'/>
    </disk>
  </devices>
</domain>`;

/** Writes 1 MiB as the guest does. */
async function write(lab: BackupLab, name: string, offsetMib: number): Promise<void> {
  const blocks = await lab.machine.virsh('qemu-monitor-command', name, '--pretty', '{"execute":"query-block"}');
  const qdev = /"qdev": "([^"]*virtio-disk0[^"]*)"/.exec(blocks)?.[1] ?? '';
  const command = `qemu-io -d ${qdev} "write -P ${1 + (offsetMib % 200)} ${offsetMib * MIB + 4096} ${MIB}"`;
  const output = await lab.machine.virsh('qemu-monitor-command', name, '--hmp', command);
  if (/rror/.test(output)) throw new Error(output);
}

interface Figures {
  readonly firstMs: number;
  readonly nextMs: number;
  readonly nextReadMib: number;
}

async function measure(lab: BackupLab, name: string, hasThread: boolean): Promise<Figures> {
  const disk = join(lab.machine.images, `${name}.qcow2`);
  await makeDisk(disk);
  const xml = join(lab.folder, `${name}.xml`);
  const file = await open(xml, 'w');
  await file.write(domainXml(name, disk, hasThread));
  await file.close();
  await lab.machine.virsh('define', xml);
  await lab.machine.virsh('start', name);
  await lab.recorder.untilVm(labRef(name), ({ status }) => status === 'Running');
  const timed = async () => {
    const began = performance.now();
    const { readBytes = 0 } = await lab.backUp(name);
    return { ms: performance.now() - began, readMib: readBytes / MIB };
  };
  const first = await timed();
  let next = { ms: Infinity, readMib: 0 };
  for (let round = 1; round <= ROUNDS; round++) {
    await write(lab, name, Math.floor((DISK_MIB * round) / (ROUNDS + 1)));
    const one = await timed();
    next = { ms: Math.min(next.ms, one.ms), readMib: Math.max(next.readMib, one.readMib) };
  }
  await lab.machine.virsh('destroy', name);
  await rm(disk);
  return { firstMs: first.ms, nextMs: next.ms, nextReadMib: next.readMib };
}

const lab = await BackupLab.open();
// The timers of the clock do not keep the process running.
const keepsRunning = setInterval(() => undefined, 1000);
try {
  const served = await measure(lab, 'served', false);
  const copied = await measure(lab, 'copied', true);
  process.stdout.write(`${JSON.stringify({ diskMib: DISK_MIB, served, copied })}\n`);
} finally {
  clearInterval(keepsRunning);
  await lab.close();
}
