import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { recordingReporter } from '@headgate/testing';
import { BackupLab, labRef } from './backup-lab.js';
import { RECORD_RING, type StoredRecords } from './stored-records.js';

const MIB = 1024 ** 2;
const RECIPE = join(import.meta.dirname, '../../../../../tools/tiny-guest/build.mjs');
const NAME = 'writer';
const POLL_MS = 20;

/**
 * Each record replaces one of a ring of files, which have its number and the same bytes, and is then noted in a list.
 * The file systems store all of it before the guest reports the record.
 */
const USER_DATA = `#cloud-config
runcmd:
  - [sh, -c, '(i=0; head -c 100000 /dev/urandom > /content; sync; while :; do i=$((i+1)); { echo $i; cat /content; } > /ring.$((i%${RECORD_RING})); echo $i >> /records; sync; echo "saved $i." > /dev/ttyS0; sleep 0.1; done) &']
`;

/** A guest that writes numbered records. */
export class WritingGuest {
  private printed = '';

  private constructor(readonly lab: BackupLab) {}

  static async open(): Promise<WritingGuest> {
    const { stdout } = await promisify(execFile)(process.execPath, [RECIPE], {
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    const { path: image } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { path: string };
    const guest = new WritingGuest(await BackupLab.open(image));
    try {
      await guest.boot();
      return guest;
    } catch (error) {
      await guest.close();
      throw error;
    }
  }

  /** The number of the last record that the guest has reported as stored. */
  get saved(): number {
    return Number([...this.printed.matchAll(/saved (\d+)\.\r?\n/g)].at(-1)?.[1] ?? 0);
  }

  async untilSaved(record: number): Promise<void> {
    while (this.saved < record) await this.lab.clock.delay(POLL_MS);
  }

  /** Whether QEMU handles the disk in an I/O thread. */
  async hasIoThread(): Promise<boolean> {
    return (await this.lab.machine.virsh('dumpxml', NAME)).includes("iothread='");
  }

  backUp(): ReturnType<BackupLab['backUp']> {
    return this.lab.backUp(NAME);
  }

  checkpoints(): Promise<string[]> {
    return this.lab.checkpoints(NAME);
  }

  /** Reads the disk of a point as a restore does. @param read may use the folder */
  async restored(
    point: string,
    read: (content: AsyncIterable<Buffer>, folder: string) => Promise<StoredRecords>,
  ): Promise<StoredRecords> {
    const disk = await (await this.lab.store()).openFile(point, '/disks/vda.raw');
    const folder = await mkdtemp(join(this.lab.folder, 'restored-'));
    try {
      return await read(disk.content(new AbortController().signal), folder);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  close(): Promise<void> {
    return this.lab.close();
  }

  private async boot(): Promise<void> {
    const entry = {
      name: 'tiny',
      description: 'Tiny guest',
      containerDisk: '',
      defaultUser: 'headgate',
      builtLocally: 'tiny',
    } as const;
    const ref = labRef(NAME);
    const { backend, recorder } = this.lab;
    const { remaining } = await backend.require('provisioning').create({
      ref,
      source: { kind: 'image', entry },
      cpu: 1,
      memoryBytes: 192 * MIB,
      diskBytes: 128 * MIB,
      start: true,
      cloudInit: USER_DATA,
    });
    await remaining?.(recordingReporter());
    await recorder.untilVm(ref, ({ status }) => status === 'Running');
    const { stream, backlog } = await backend.require('consoles').openSerial(ref);
    this.printed = backlog.toString('latin1');
    stream.on('data', (bytes: Buffer) => (this.printed = (this.printed + bytes.toString('latin1')).slice(-100_000)));
  }
}
