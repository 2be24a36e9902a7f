import {
  Change,
  describeHardwareChange,
  DomainError,
  isVm,
  workOn,
  type Audit,
  type BackendDirectory,
  type Caller,
  type HardwareChange,
  type HardwarePlan,
  type HardwareResult,
  type Instance,
  type InstanceDirectory,
  type InstanceHardware,
  type InstanceQuery,
  type PendingSetting,
  type Reservations,
} from '@headgate/domain-contracts';
import { planWithPossibleName, withPossibleName } from './refuse-impossible-names.js';
import { findChangeable } from '../find-changeable.js';

export interface HardwareOutcome extends HardwareResult {
  /** What takes effect only when the VM is started the next time, with the value until then. */
  readonly pending: readonly PendingSetting[];
}

/** Changes the virtual hardware of a VM. */
export class ChangeHardware extends Change<[query: InstanceQuery, change: HardwareChange], HardwareOutcome> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly audit: Audit,
    private readonly reservations: Reservations,
  ) {
    super();
  }

  override async plan(query: InstanceQuery, change: HardwareChange): Promise<HardwarePlan> {
    const { hardware, ref } = this.find(query);
    return this.reservations.plan(workOn(change.kind, ref), () =>
      planWithPossibleName(change, () => hardware.plan(ref, change)),
    );
  }

  override async run(query: InstanceQuery, change: HardwareChange, caller: Caller): Promise<HardwareOutcome> {
    const { ref, uid } = this.find(query);
    return this.reservations.during(workOn(change.kind, ref), () => this.apply({ ...ref, uid }, change, caller));
  }

  private async apply(query: InstanceQuery, change: HardwareChange, caller: Caller): Promise<HardwareOutcome> {
    const { hardware, ref } = this.find(query);
    const result = await this.audit.of(
      caller,
      describeHardwareChange(change),
      ref,
      () => withPossibleName(change, () => hardware.apply(ref, change)),
      ({ effect }) => EFFECT_MESSAGES[effect],
    );
    const { pending } = await hardware.read(ref);
    await this.directory.waitFor(
      ref,
      (instance) => instance === undefined || (isVm(instance) && instance.restartRequired === pending.length > 0),
    );
    return { ...result, pending };
  }

  private find(query: InstanceQuery): Pick<Instance, 'ref' | 'uid'> & { readonly hardware: InstanceHardware } {
    const { ref, uid } = findChangeable(this.directory, query);
    return { hardware: this.backends.get(ref.context).require('hardware'), ref, uid };
  }
}

const EFFECT_MESSAGES = {
  now: '',
  restart: 'The VM was restarted.',
  'next-start': 'It takes effect at the next start.',
} as const;

/** The change that a request to `scale` asks for. @throws DomainError INVALID_INPUT when it asks for nothing */
export function scaleChange(
  cpu: number | undefined,
  memoryBytes: number | undefined,
  restart: boolean,
): HardwareChange {
  if (cpu === undefined && memoryBytes === undefined) {
    throw new DomainError('INVALID_INPUT', 'Give cpu, mem or both: a scale changes at least one of them.');
  }
  return { kind: 'scale', cpu, memoryBytes, restart };
}

/** The change that a request for a disk asks for. @throws DomainError INVALID_INPUT unless it names exactly one of the two */
export function attachChange(sizeBytes: number | undefined, volume: string | undefined): HardwareChange {
  if (sizeBytes !== undefined && volume === undefined) return { kind: 'attach-volume', disk: { sizeBytes } };
  if (volume !== undefined && sizeBytes === undefined) return { kind: 'attach-volume', disk: { volume } };
  throw new DomainError(
    'INVALID_INPUT',
    'Give size for a new disk, or pvc for a volume that exists: exactly one of them.',
  );
}

/** The change of a NIC that a request asks for. @throws DomainError INVALID_INPUT when it asks for nothing */
export function nicChange(nic: string, network: string | undefined, isLinkUp: boolean | undefined): HardwareChange {
  if (network === undefined && isLinkUp === undefined) {
    throw new DomainError('INVALID_INPUT', 'Give nad, link or both: a change of a NIC changes at least one of them.');
  }
  return { kind: 'change-nic', nic, network, isLinkUp };
}
