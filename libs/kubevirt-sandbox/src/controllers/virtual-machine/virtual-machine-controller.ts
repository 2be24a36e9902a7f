import { deepEqual, type KubeObject, type ObjectKey } from '@headgate/kube-sandbox';
import { RESOURCES } from '../../resources.js';
import { isTrue } from '../../types/condition.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../../types/virtual-machine.js';
import { isControlledBy, type SimulationContext } from '../../simulation-context.js';
import { validateVmiSpec } from '../../admission/vmi-spec-rules.js';
import { refreshMigratability } from '../instance/migratability.js';
import { Controller } from '../controller.js';
import { adoptDataVolumes, createMissingDataVolumes, isReadyToStart } from './data-volume-templates.js';
import { buildInstance, VM_FINALIZER } from '../../machines/instance-builder.js';
import { ExpansionFailure, findInstancetype, findPreference } from '../../machines/instancetype-expansion.js';
import { takeRevision } from '../../machines/instancetype-revision.js';
import { observedGeneration, planLiveUpdate, rollsOutLive } from '../../machines/live-update.js';
import { isFinal } from '../../machines/printable-status.js';
import { runDecision } from './run-decision.js';
import { recordStart } from '../../machines/start-revision.js';
import { planVolumeUpdate } from '../../machines/volume-migration.js';
import { VolumeUsers } from '../../machines/volume-users.js';
import { applyVolumeRequest, volumeRequestsOf } from '../../machines/volume-requests.js';
import { restartDelayMs, statusInputs, updateVmStatus, type VmFindings } from './vm-status.js';

const ORPHAN = 'orphan';

/** Keeps the VMI, the DataVolumes and the status of each VM in line with its spec and run strategy. */
export class VirtualMachineController extends Controller<VirtualMachine> {
  private readonly volumeUsers = new VolumeUsers();
  /** VMs that could not be started because an object that they name is missing. */
  private readonly blocked = new Map<string, ObjectKey>();

  constructor(context: SimulationContext) {
    super(context, RESOURCES.vm, 'virtualmachine-controller');
  }

  protected override watchRelated(): void {
    this.index<VirtualMachine>(RESOURCES.vm, ({ object, type }) =>
      this.volumeUsers.note(object, type === 'DELETED' ? [] : (object.spec.template.spec.volumes ?? [])),
    );
    this.watch(RESOURCES.vmi, ({ object }) => this.enqueue(object.metadata));
    for (const resource of [RESOURCES.dataVolume, RESOURCES.claim]) {
      this.watch(resource, ({ object }) => {
        for (const key of this.volumeUsers.of(object)) this.enqueue(key);
      });
    }
    for (const resource of [
      RESOURCES.kubevirt,
      RESOURCES.clusterInstancetype,
      RESOURCES.instancetype,
      RESOURCES.clusterPreference,
      RESOURCES.preference,
    ]) {
      this.watch(resource, () => this.retryBlocked());
    }
  }

  protected override reconcile(vm: VirtualMachine): void {
    const vmi = this.context.find<VirtualMachineInstance>(RESOURCES.vmi, vm.metadata.namespace, vm.metadata.name);
    const ours = vmi && isControlledBy(vmi, vm) ? vmi : undefined;
    if (ours) this.releaseFinished(ours);
    if (vm.metadata.deletionTimestamp) return this.terminate(vm, ours);
    if (!vm.metadata.finalizers?.includes(VM_FINALIZER)) {
      this.change(vm, ({ metadata }) => {
        metadata.finalizers = [...(metadata.finalizers ?? []), VM_FINALIZER];
      });
      return;
    }
    if (volumeRequestsOf(vm).length > 0) return this.serveVolumeRequests(vm, ours);
    adoptDataVolumes(this.context, vm);
    for (const { metadata } of createMissingDataVolumes(this.context, vm)) {
      this.recordEvent(vm, 'SuccessfulDataVolumeCreate', `Created DataVolume ${metadata.name}`);
    }
    this.writeStatus(vm, this.follow(vm, ours));
  }

  /** Applies the spec, unless it names an object that can't be used: then the VM waits for that object. */
  private follow(vm: VirtualMachine, vmi: VirtualMachineInstance | undefined): VmFindings {
    try {
      const findings = this.act(this.rememberInstancetype(vm), vmi);
      this.blocked.delete(vm.metadata.uid!);
      return findings;
    } catch (error) {
      if (!(error instanceof ExpansionFailure)) throw error;
      this.blocked.set(vm.metadata.uid!, vm.metadata);
      const message = `Error creating virtual machine instance: ${error.message}`;
      this.recordEvent(vm, 'FailedCreate', message, { warning: true });
      const creationExpected = runDecision(vm, vmi) === 'create';
      return { creationExpected, failure: { reason: 'FailedCreate', message: error.message } };
    }
  }

  /** Applies the run strategy and live changes, and returns the facts that the status needs. */
  private act(vm: VirtualMachine, vmi: VirtualMachineInstance | undefined): VmFindings {
    switch (runDecision(vm, vmi)) {
      case 'delete':
        return this.shutDown(vm, vmi!);
      case 'rerun':
        return this.shutDown(
          this.change(vm, (draft) => {
            draft.status = { ...draft.status, stateChangeRequests: [{ action: 'Start' }] };
          }),
          vmi!,
        );
      case 'create':
        return this.startUp(vm, false);
      case 'start-paused':
        return this.startPaused(vm);
      default:
        return { creationExpected: false, ...(vmi && !isFinal(vmi) ? this.update(vm, vmi) : {}) };
    }
  }

  private shutDown(vm: VirtualMachine, { metadata }: VirtualMachineInstance): VmFindings {
    this.context.discard(RESOURCES.vmi, metadata);
    const message = `Stopped the virtual machine by deleting the virtual machine instance ${metadata.uid}`;
    this.recordEvent(vm, 'SuccessfulDelete', message);
    return { creationExpected: false };
  }

  private startPaused(vm: VirtualMachine): VmFindings {
    const paused = vm.status?.stateChangeRequests?.[0]?.data?.paused === 'true';
    const changed = this.change(vm, ({ spec }) => {
      if (spec.running === undefined) spec.runStrategy = 'Always';
      else spec.running = true;
    });
    return this.startUp(changed, paused);
  }

  private startUp(vm: VirtualMachine, paused: boolean): VmFindings {
    // A VMI with this name and another owner blocks the name.
    if (this.context.find(RESOURCES.vmi, vm.metadata.namespace, vm.metadata.name)) return { creationExpected: true };
    const { startFailure, conditions } = vm.status ?? {};
    if (isTrue(conditions, 'ManualRecoveryRequired')) return { creationExpected: false };
    if (startFailure) {
      const delay = restartDelayMs(this.context, startFailure.consecutiveFailCount);
      if (!this.took(vm, `restart after ${startFailure.lastFailedVMIUID}`, delay)) return { creationExpected: false };
    }
    const { dataVolumes } = statusInputs(this.context, vm, undefined);
    if (!dataVolumes.every(isReadyToStart)) return { creationExpected: true };
    return this.createInstance(vm, paused);
  }

  /** @throws ExpansionFailure */
  private createInstance(vm: VirtualMachine, paused: boolean): VmFindings {
    const vmi = buildInstance(this.context, vm, this.context.clock.timestamp(), paused);
    const causes = validateVmiSpec(vmi.spec, 'spec', this.context);
    if (causes.length > 0) throw new ExpansionFailure(causes.map(({ message }) => message).join(', '));
    recordStart(this.context, vm);
    this.context.store.create(RESOURCES.vmi, vmi);
    this.recordEvent(
      vm,
      'SuccessfulCreate',
      `Started the virtual machine by creating the new virtual machine instance ${vm.metadata.name}`,
    );
    return { creationExpected: true };
  }

  /**
   * Records, once, which copies of an instancetype and of a preference a VM follows, whether it runs or not.
   * @throws ExpansionFailure
   */
  private rememberInstancetype(vm: VirtualMachine): VirtualMachine {
    const originals = [
      ['instancetype', 'instancetypeRef', findInstancetype(this.context, vm)],
      ['preference', 'preferenceRef', findPreference(this.context, vm)],
    ] as const;
    let remembered = vm;
    for (const [matcher, ref, original] of originals) {
      if (!original || vm.spec[matcher]?.revisionName || vm.status?.[ref]?.name === original.metadata.name) continue;
      const name = takeRevision(this.context, vm, original);
      remembered = this.change(remembered, (draft) => {
        if (!this.context.release.since('1.5')) draft.spec[matcher]!.revisionName = name;
        else {
          draft.status = {
            ...draft.status,
            [ref]: { name: original.metadata.name, kind: original.kind, controllerRevisionRef: { name } },
          };
        }
      });
    }
    return remembered;
  }

  private update(vm: VirtualMachine, vmi: VirtualMachineInstance): Pick<VmFindings, 'restartRequired' | 'failure'> {
    const live = this.updateLive(vm, vmi);
    const waits = live.restartRequired ?? isTrue(vm.status?.conditions, 'RestartRequired');
    if (waits !== false || live.failure || !rollsOutLive(this.context)) return live;
    const current = this.context.store.get<VirtualMachineInstance>(RESOURCES.vmi, vmi.metadata) ?? vmi;
    const { apply, migratedVolumes, restartRequired, failure } = planVolumeUpdate(this.context, vm, current);
    if (migratedVolumes) {
      this.change(vm, (draft) => {
        draft.status = { ...draft.status, volumeUpdateState: { volumeMigrationState: { migratedVolumes } } };
      });
    }
    if (apply) {
      this.context.store.patch<VirtualMachineInstance>(RESOURCES.vmi, vmi.metadata, (draft) => {
        apply(draft);
        refreshMigratability(this.context, draft);
      });
    }
    return { ...live, ...(restartRequired !== undefined && { restartRequired }), ...(failure && { failure }) };
  }

  private updateLive(vm: VirtualMachine, vmi: VirtualMachineInstance): Pick<VmFindings, 'restartRequired' | 'failure'> {
    const waiting = isTrue(vm.status?.conditions, 'RestartRequired');
    if (observedGeneration(vmi) === vm.metadata.generation && !waiting) return {};
    // Older releases do not notice that a change was reverted, and apply nothing until the restart.
    if (waiting && !this.context.release.clearsRestartRequired) return {};
    const { restartRequired, failure, apply } = planLiveUpdate(this.context, vm, vmi);
    if (restartRequired) return { restartRequired };
    if (failure) return { failure };
    this.context.store.patch<VirtualMachineInstance>(RESOURCES.vmi, vmi.metadata, (draft) => {
      apply?.(draft);
      draft.metadata.annotations = {
        ...draft.metadata.annotations,
        'kubevirt.io/vm-generation': String(vm.metadata.generation),
      };
    });
    return { restartRequired: false };
  }

  /** Requests of the addvolume and removevolume subresources. They change the VM and, while it runs, its VMI. */
  private serveVolumeRequests(vm: VirtualMachine, vmi: VirtualMachineInstance | undefined): void {
    const requests = volumeRequestsOf(vm);
    const changed = this.change(vm, (draft) => {
      for (const request of requests) applyVolumeRequest(draft.spec.template.spec, request);
      delete draft.status!.volumeRequests;
    });
    if (!vmi || isFinal(vmi)) return;
    this.context.store.patch<VirtualMachineInstance>(RESOURCES.vmi, vmi.metadata, (draft) => {
      for (const request of requests) applyVolumeRequest(draft.spec, request);
      if (observedGeneration(vmi) === vm.metadata.generation) {
        draft.metadata.annotations!['kubevirt.io/vm-generation'] = String(changed.metadata.generation);
      }
    });
  }

  private writeStatus(vm: VirtualMachine, findings: VmFindings): void {
    const current = this.context.store.get<VirtualMachine>(RESOURCES.vm, vm.metadata);
    if (!current) return;
    const vmi = this.context.find<VirtualMachineInstance>(RESOURCES.vmi, vm.metadata.namespace, vm.metadata.name);
    const inputs = statusInputs(this.context, current, vmi && isControlledBy(vmi, current) ? vmi : undefined);
    this.change(current, (draft) => updateVmStatus(this.context, draft, inputs, findings));
    const before = current.status?.startFailure;
    const after = this.context.store.get<VirtualMachine>(RESOURCES.vm, vm.metadata)?.status?.startFailure;
    if (!deepEqual(before, after)) this.enqueue(vm.metadata);
  }

  private terminate(vm: VirtualMachine, vmi: VirtualMachineInstance | undefined): void {
    const orphaned = vm.metadata.finalizers?.includes(ORPHAN);
    if (vmi && !orphaned) {
      if (!vmi.metadata.deletionTimestamp) this.context.discard(RESOURCES.vmi, vmi.metadata);
      return this.writeStatus(vm, { creationExpected: false });
    }
    if (!vm.metadata.finalizers?.includes(VM_FINALIZER)) return;
    this.change(vm, ({ metadata }) => {
      metadata.finalizers = metadata.finalizers?.filter((finalizer) => finalizer !== VM_FINALIZER);
    });
  }

  /** A VMI that has ended and is being deleted no longer needs its VM. */
  private releaseFinished(vmi: VirtualMachineInstance): void {
    if (!vmi.metadata.deletionTimestamp || !isFinal(vmi) || !vmi.metadata.finalizers?.includes(VM_FINALIZER)) return;
    this.context.store.patch<KubeObject>(RESOURCES.vmi, vmi.metadata, ({ metadata }) => {
      metadata.finalizers = metadata.finalizers?.filter((finalizer) => finalizer !== VM_FINALIZER);
    });
  }

  private retryBlocked(): void {
    for (const key of this.blocked.values()) this.enqueue(key);
  }

  protected override cleanUp(key: ObjectKey): void {
    for (const [uid, blocked] of this.blocked) {
      if (blocked.namespace === key.namespace && blocked.name === key.name) this.blocked.delete(uid);
    }
  }
}
