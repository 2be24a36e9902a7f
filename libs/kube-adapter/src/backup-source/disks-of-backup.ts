import type { HardwareDisk, Refusal } from '@headgate/domain-contracts';
import { readHardware, type HardwareDeps, type VmState } from '../hardware/vm-hardware.js';

/** A disk that a backup has, by the name of its device, which is that of its volume. */
export interface BackedUpDisk {
  readonly name: string;
  readonly claim: string;
  readonly sizeBytes: number;
}

export interface DisksOfBackup {
  /** The boot disk first. */
  readonly disks: readonly BackedUpDisk[];
  readonly refusals: readonly Refusal[];
  readonly warnings: readonly string[];
}

/** The disks of the next start, as those of a move: a disc drive and its medium are no part of them. */
export async function disksOfBackup(deps: HardwareDeps, state: VmState): Promise<DisksOfBackup> {
  const { vmi: _live, ...stopped } = state;
  const { name } = state.ref;
  const hardware = (await readHardware(deps, stopped)).disks.filter(({ type }) => type === 'disk');
  const disks = [...hardware].sort((a, b) => Number(b.isRoot) - Number(a.isRoot));
  const refusals = disks.flatMap((disk) => refusalOf(state, disk));
  if (disks.length === 0)
    refusals.push({ code: 'NOT_SUPPORTED', reason: `${name} has no disk.`, remedy: 'Add a disk first.' });
  const warnings = disks
    .filter(({ volume, isRoot }) => volume === undefined && !isRoot)
    .map(({ device }) => `The disk ${device} is not a volume, so it is in no backup: its content ends with each run.`);
  return {
    disks: disks.flatMap(({ device, volume, sizeBytes }) =>
      volume === undefined || sizeBytes === null ? [] : [{ name: device, claim: volume, sizeBytes }],
    ),
    refusals,
    warnings,
  };
}

function refusalOf({ ref, spec }: VmState, { device, volume, sizeBytes, isRoot }: HardwareDisk): Refusal[] {
  const refuse = (code: Refusal['code'], reason: string, remedy: string): Refusal[] => [{ code, reason, remedy }];
  const found = (spec.domain?.devices?.disks ?? []).find((disk) => disk.name === device) as
    { readonly lun?: unknown; readonly shareable?: boolean } | undefined;
  if (found?.lun !== undefined)
    return refuse('NOT_SUPPORTED', `The disk ${device} of ${ref.name} is a device that is passed through.`, DETACH);
  if (found?.shareable === true)
    return refuse('NOT_SUPPORTED', `The disk ${device} of ${ref.name} is shared with other VMs.`, DETACH);
  if (volume === undefined && isRoot)
    return refuse(
      'NOT_SUPPORTED',
      `The boot disk ${device} of ${ref.name} is not a volume: it has the same content at each start.`,
      'Create the VM from the same image instead of a backup.',
    );
  if (volume !== undefined && sizeBytes === null)
    return refuse(
      'WRONG_STATE',
      `The volume ${volume} of ${ref.name} does not exist, or is not ready.`,
      'Wait until it is ready.',
    );
  return [];
}

const DETACH = 'Detach it, or back it up with other tools.';
