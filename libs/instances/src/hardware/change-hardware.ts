import {
  describeHardwareChange,
  DomainError,
  isVm,
  type FoundInstance,
  type HardwareChange,
  type HardwarePlan,
  type HardwareResult,
  type Instance,
  type InstanceDirectory,
  type InstanceHardware,
  type InstanceRef,
  type PendingSetting,
  type Work,
} from '@headgate/domain-contracts';
import { InstanceChange, type Permit } from '../instance-change.js';
import { planWithPossibleName, withPossibleName } from './refuse-impossible-names.js';

export interface HardwareOutcome extends HardwareResult {
  /** What takes effect only when the VM is started the next time, with the value until then. */
  readonly pending: readonly PendingSetting[];
  /** The settings that the running guest gets without a restart, and does not have yet. */
  readonly applying: readonly PendingSetting[];
}

/** Changes the virtual hardware of an instance. */
export class ChangeHardware extends InstanceChange<'hardware', [change: HardwareChange], HardwareOutcome> {
  protected override readonly ability = 'hardware';

  protected override operationOf({ kind }: HardwareChange): HardwareChange['kind'] {
    return kind;
  }

  protected override actionOf(change: HardwareChange): string {
    return describeHardwareChange(change);
  }

  protected override workOf(instance: Instance, change: HardwareChange): Work {
    const work = super.workOf(instance, change);
    return 'restart' in change && change.restart ? { ...work, variant: 'with a restart' } : work;
  }

  protected override planOn(
    { ref, ability }: FoundInstance<'hardware'>,
    change: HardwareChange,
  ): Promise<HardwarePlan> {
    return planWithPossibleName(change, () => ability.plan(ref, change));
  }

  protected override async runOn(
    { ref, ability }: FoundInstance<'hardware'>,
    _permit: Permit,
    change: HardwareChange,
  ): Promise<HardwareOutcome> {
    const result = await withPossibleName(change, () => ability.apply(ref, change));
    return { ...result, pending: [], applying: [] };
  }

  protected override describe({ effect }: HardwareOutcome): string {
    return EFFECT_MESSAGES[effect];
  }

  protected override async settle(
    { ref, ability }: FoundInstance<'hardware'>,
    result: HardwareOutcome,
  ): Promise<HardwareOutcome> {
    return { ...result, ...(await settledHardware(this.deps.directory, ref, ability)) };
  }
}

/** Waits until the read model shows the size of a container, or whether changes of a VM wait for the next start. */
export async function settledHardware(
  directory: InstanceDirectory,
  ref: InstanceRef,
  ability: InstanceHardware,
): Promise<Pick<HardwareOutcome, 'pending' | 'applying'>> {
  const { cpu, memoryBytes, pending, applying = [] } = await ability.read(ref);
  await directory.waitFor(ref, (instance) => {
    if (instance === undefined) return true;
    if (isVm(instance)) return instance.restartRequired === pending.length > 0;
    return instance.cpu === cpu && instance.memoryBytes === memoryBytes;
  });
  return { pending, applying };
}

const EFFECT_MESSAGES = {
  now: '',
  restart: 'It was restarted.',
  'next-start': 'It takes effect at the next start.',
} as const;

/** The change that a request to `scale` asks for. @throws DomainError INVALID_INPUT when it asks for nothing */
export function scaleChange(
  cpu: number | undefined,
  memoryBytes: number | undefined,
  restart: boolean,
): HardwareChange {
  if (cpu === undefined && memoryBytes === undefined) {
    throw new DomainError('INVALID_INPUT', 'Set cpu, mem or both: a scale changes at least one of them.');
  }
  return { kind: 'scale', cpu, memoryBytes, restart };
}

/**
 * The change that a request for a disk asks for.
 * @throws DomainError INVALID_INPUT unless it names exactly one of the two
 */
export function attachChange(sizeBytes: number | undefined, volume: string | undefined): HardwareChange {
  if (sizeBytes !== undefined && volume === undefined) return { kind: 'attach-volume', disk: { sizeBytes } };
  if (volume !== undefined && sizeBytes === undefined) return { kind: 'attach-volume', disk: { volume } };
  throw new DomainError('INVALID_INPUT', 'Set either size, for a new disk, or pvc, for an existing volume.');
}

/** The change of a NIC that a request asks for. @throws DomainError INVALID_INPUT when it asks for nothing */
export function nicChange(nic: string, network: string | undefined, isLinkUp: boolean | undefined): HardwareChange {
  if (network === undefined && isLinkUp === undefined) {
    throw new DomainError('INVALID_INPUT', 'Set nad, link or both: a change to a NIC needs at least one of them.');
  }
  return { kind: 'change-nic', nic, network, isLinkUp };
}
