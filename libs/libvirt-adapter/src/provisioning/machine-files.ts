import type { VmSpec } from '@headgate/domain-contracts';
import type { DiskSpec } from '../domain-xml/build-domain-xml.js';
import type { OwnedVolume, VolumeRole } from '../domain-xml/instance-metadata.js';
import type { CreationPlan } from './creation-plan.js';

/** The files of one machine: where they are, and which of them belong to it. */
export interface MachineFiles {
  readonly names: Readonly<Record<'disk' | 'seed' | 'cdrom', string>>;
  readonly disk: DiskSpec;
  /** The installer's disc. */
  readonly installer?: string;
  /** The disc with cloud-init's data. */
  readonly seed?: string;
  readonly serial: { readonly socket: string; readonly log: string };
  readonly volumes: readonly OwnedVolume[];
}

interface Machine {
  readonly spec: VmSpec;
  readonly uuid: string;
  readonly pool: string;
  readonly folder: string;
  readonly plan: CreationPlan;
}

/** Names begin with the machine's, for people, and carry its UUID's beginning, so that they never meet what is there. */
export function nameVolumes({ spec, uuid, pool, folder, plan }: Machine): MachineFiles {
  const base = `${spec.ref.name}-${uuid.slice(0, 8)}`;
  const names = {
    disk: `${base}.qcow2`,
    seed: `${base}-seed.iso`,
    cdrom: `${base}-cdrom.iso`,
    log: `${base}-serial.log`,
  };
  const path = (name: string): string => `${folder}/${name}`;
  const own = (name: string, role: VolumeRole): OwnedVolume => ({ pool, name, role });
  const isInstallation = spec.source.kind === 'iso';
  return {
    names,
    disk: plan.claim
      ? { path: plan.claim.path, format: plan.claim.format }
      : { path: path(names.disk), format: 'qcow2' },
    installer: isInstallation ? path(names.cdrom) : undefined,
    seed: plan.hasSeed ? path(names.seed) : undefined,
    // Short: a socket's path has 107 characters at most.
    serial: { socket: path(`${uuid}.serial`), log: path(names.log) },
    volumes: [
      ...(plan.claim ? [] : [{ ...own(names.disk, 'disk'), bytes: spec.diskBytes }]),
      ...(isInstallation ? [own(names.cdrom, 'cdrom')] : []),
      ...(plan.hasSeed ? [own(names.seed, 'seed')] : []),
      own(names.log, 'serial-log'),
    ],
  };
}
