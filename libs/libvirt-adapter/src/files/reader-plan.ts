import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buildPlan, formatBytes, type Plan, type Refusal } from '@headgate/domain-contracts';
import { READER_FILES, readerNames } from '../domains/proof-names.js';
import type { Host } from '../host/host.js';
import { checkServedDisks, type ServedDisksDeps } from '../storage/served-disks.js';
import type { VolumeOwner } from '../storage/storage-pool.js';

export interface ReaderPlanDeps extends ServedDisksDeps {
  /** The folder with the kernel and the RAM disk of the reader guest; absent where there is none. */
  readonly readerGuest?: string;
}

/** A plan, with the facts that were gathered for it. */
export interface PlannedReader {
  readonly plan: Plan;
  readonly host: Host;
  /** Absent if QEMU runs as the user of libvirt. */
  readonly owner?: VolumeOwner;
}

/** Reader guests at the same time, of one service on one host. */
export const MAX_READERS = 3;
export const READER_MEMORY_BYTES = 256 * 1024 ** 2;
/** QEMU needs it besides the memory of the guest. */
const OVERHEAD_BYTES = 128 * 1024 ** 2;
const MAX_DISKS = 24;

/** @param running the number of other reader guests, which may not have touched their memory yet */
export async function planReader(
  { id, diskCount }: { readonly id: string; readonly diskCount: number },
  deps: ReaderPlanDeps,
  running: number,
): Promise<PlannedReader> {
  const { context, readerGuest } = deps;
  const [served, hasGuest] = await Promise.all([
    checkServedDisks(deps, `${readerNames(id).folder}/${READER_FILES.disks}`),
    readerGuest === undefined ? false : hasReaderGuest(readerGuest),
  ]);
  const { host, owner, memoryUsedBytes } = served;
  const refusals: Refusal[] = [...served.refusals];
  const refuse = (code: Refusal['code'], reason: string, remedy: string): void =>
    void refusals.push({ code, reason, remedy });
  if (!hasGuest)
    refuse(
      'NOT_SUPPORTED',
      'The guest that reads files is not there: it is built from packages of the distribution.',
      'Build it with tools/reader-guest/build.mjs, and start the service with --reader-guest and its folder.',
    );
  if (host.arch !== 'x86_64')
    refuse(
      'NOT_SUPPORTED',
      `${context} is ${host.arch}, and the guest that reads files is for x86_64.`,
      'Choose another context.',
    );
  if (running >= MAX_READERS)
    refuse('BUSY', `${context} has ${running} guests that read files already.`, 'Close one of them.');
  if (diskCount === 0 || diskCount > MAX_DISKS)
    refuse('NOT_SUPPORTED', `The VM has ${diskCount} disks.`, `Files are read from 1 to ${MAX_DISKS} disks.`);
  const needed = READER_MEMORY_BYTES + OVERHEAD_BYTES;
  const freeBytes = Math.max(0, host.memoryBytes - memoryUsedBytes - running * needed);
  if (host.memoryBytes > 0 && needed > freeBytes)
    refuse(
      'WRONG_STATE',
      `${context} has ${formatBytes(freeBytes)} of memory free, and the guest that reads files needs ${formatBytes(needed)}.`,
      'Stop a VM there.',
    );
  const detail = `Boot a guest in ${context} that reads the disks, without a network. Nothing is copied or changed.`;
  const warnings = host.accelerator === 'tcg' ? ['KVM is not available on the machine, so the guest is slow.'] : [];
  return { plan: buildPlan([{ name: 'open', detail }], { refusals, warnings }), host, ...(owner && { owner }) };
}

async function hasReaderGuest(folder: string): Promise<boolean> {
  const sizes = await Promise.all(
    ['kernel', 'initrd'].map(async (file) => (await stat(join(folder, file)).catch(() => undefined))?.size ?? 0),
  );
  return sizes.every((size) => size > 0);
}
