import {
  BootProof,
  isProofId,
  messageOf,
  RunningProofs,
  throwFirstRefusal,
  type BootOutcome,
  type BootPlan,
  type BootRequest,
  type BootSpec,
  type ConsoleStream,
  type InstanceRef,
  type Log,
} from '@headgate/domain-contracts';
import type { VmObject } from '../api/object-types.js';
import { VIRTUAL_MACHINES } from '../api/resources.js';
import { LeftOvers } from '../left-overs/left-overs.js';
import { startBeats } from '../left-overs/start-beats.js';
import { copyDisks, DamagedDisk } from './copy-disks.js';
import { ProofGuest, type ProofGuestDeps } from './proof-guest.js';
import { ProofMachines } from './proof-machines.js';
import { planProof, type PlannedProof, type ProofPlanDeps } from './proof-plan.js';

/** Takes a picture of a screen, as PNG. @param open a session of RFB */
export type TakePicture = (open: () => Promise<ConsoleStream>) => Promise<Buffer>;

export interface KubeBootProofDeps extends ProofPlanDeps, ProofGuestDeps {
  readonly log: Log;
  /** Absent: proofs have no pictures. */
  readonly takePicture?: TakePicture | undefined;
}

const NOT_KEPT_ALIVE = 'the VM of a proof was not kept alive';
const LEFT_OVERS = {
  removed: 'a VM that a proof has left was removed',
  failed: 'the VMs that proofs have left were not looked for',
};

/**
 * Boots copies of the disks, which it uploads into new volumes, as a VM that owns the volumes. A service that is killed
 * leaves them: the task removes them when it is resumed, and otherwise the next look of any service that sees them.
 */
export class KubeBootProof extends BootProof {
  private readonly running = new RunningProofs();
  private readonly machines: ProofMachines;
  private readonly leftOvers: LeftOvers;

  constructor(private readonly deps: KubeBootProofDeps) {
    super();
    const { discovery } = deps;
    const namespaces = this.namespaces();
    this.machines = new ProofMachines(deps);
    this.leftOvers = new LeftOvers({
      ...deps,
      ...(namespaces && { namespaces }),
      objects: this.machines,
      messages: LEFT_OVERS,
      isServed: () => discovery.latest?.serves(VIRTUAL_MACHINES.apiVersion) === true,
    });
  }

  override async plan(request: BootRequest): Promise<BootPlan> {
    return (await planProof(request, this.deps, this.running)).plan;
  }

  override boot(spec: BootSpec, signal: AbortSignal): Promise<BootOutcome> {
    return this.running.run(spec, signal, async (either) => {
      const planned = await planProof(spec, this.deps, this.running);
      throwFirstRefusal(planned.plan);
      either.throwIfAborted();
      return this.bootAndRemove(spec, planned, either);
    });
  }

  override async discard(id: string): Promise<void> {
    if (!isProofId(id)) return;
    await this.running.whenEnded(id);
    for (const namespace of this.namespaces() ?? [undefined]) await this.machines.removeWhole(id, namespace);
  }

  /** Ends all proofs, and waits until nothing is left of them. */
  async close(): Promise<void> {
    await this.running.close();
    await this.leftOvers.close();
  }

  /** Those in which proofs may be. Undefined: all. */
  private namespaces(): readonly string[] | undefined {
    const { namespaces, proofNamespace } = this.deps;
    if (!namespaces || proofNamespace === undefined) return namespaces;
    return [...new Set([...namespaces, proofNamespace])];
  }

  private async bootAndRemove(
    spec: BootSpec,
    { namespace, storageClass }: PlannedProof,
    signal: AbortSignal,
  ): Promise<BootOutcome> {
    let stopBeats = (): void => undefined;
    try {
      const machine = await this.machines.create(spec, namespace);
      stopBeats = startBeats(machine, { ...this.deps, objects: this.machines, failed: NOT_KEPT_ALIVE });
      signal.throwIfAborted();
      const volumes = await this.machines.createVolumes(machine, spec, storageClass);
      const sha256 = await copyDisks(this.deps, spec, volumes, signal);
      return { ...(await this.bootCopies(machine, spec, signal)), sha256 };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DamagedDisk) return { bootMs: 0, problem: error.message };
      throw error;
    } finally {
      stopBeats();
      // Without a beat, the rest is found by a later look.
      await this.machines
        .removeWhole(spec.id, namespace)
        .catch((error: unknown) =>
          this.deps.log.warn({ proof: spec.id, reason: messageOf(error) }, 'a proof could not be removed completely'),
        );
    }
  }

  private async bootCopies(machine: VmObject, { timeLimitMs }: BootSpec, signal: AbortSignal): Promise<BootOutcome> {
    const { context, consoles, takePicture } = this.deps;
    const { namespace = '', name = '' } = machine.metadata;
    const ref: InstanceRef = { kind: 'vm', context, namespace, name };
    const guest = new ProofGuest(this.deps, ref);
    await this.machines.start(machine);
    const vmi = await guest.whenStarted(signal);
    const seen = await guest.boot(vmi, timeLimitMs, signal);
    // A guest that has ended has no screen.
    const picture = await takePicture?.(() => consoles.openVnc(ref)).catch(() => undefined);
    return { ...seen, ...(picture && { picture }) };
  }
}
