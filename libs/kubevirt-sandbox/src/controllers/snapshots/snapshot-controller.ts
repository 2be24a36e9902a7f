import { suffers } from '../../inherited-faults.js';
import { RESOURCES } from '../../resources.js';
import { isTrue, setCondition } from '../../types/condition.js';
import type { VmSnapshot, VmSnapshotContent, VolumeSnapshot } from '../../types/kubevirt-kinds.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../../types/virtual-machine.js';
import type { SimulationContext } from '../../simulation-context.js';
import { Controller } from '../controller.js';
import { isFinal } from '../../machines/printable-status.js';
import { createContent, splitVolumes } from './snapshot-content.js';
import { goDuration, reportProgress } from './snapshot-conditions.js';

const SNAPSHOT_FINALIZER = 'snapshot.kubevirt.io/vmsnapshot-protection';
const SOURCE_FINALIZER = 'snapshot.kubevirt.io/snapshot-source-protection';
const DEFAULT_DEADLINE_MS = 300_000;

/** Takes snapshots of VMs: locks the VM, snapshots its volumes, unlocks it. */
export class SnapshotController extends Controller<VmSnapshot> {
  constructor(context: SimulationContext) {
    super(context, RESOURCES.snapshot, 'snapshot-controller');
  }

  protected override watchRelated(): void {
    this.watchOwned(RESOURCES.volumeSnapshot, 'VirtualMachineSnapshot');
    this.watch<VirtualMachine>(RESOURCES.vm, ({ object }) => {
      for (const { metadata } of this.open(object)) this.enqueue(metadata);
    });
  }

  /** The snapshots of a VM that are not complete yet. */
  private open({ metadata }: VirtualMachine): VmSnapshot[] {
    if (this.context.store.count(RESOURCES.snapshot) === 0) return [];
    return this.context.store.list<VmSnapshot>(RESOURCES.snapshot, {
      namespace: metadata.namespace,
      where: ({ spec, status }) =>
        spec.source.name === metadata.name && !['Succeeded', 'Failed'].includes(status?.phase ?? ''),
    });
  }

  protected override reconcile(snapshot: VmSnapshot): void {
    if (snapshot.metadata.deletionTimestamp) return this.remove(snapshot);
    if (!snapshot.metadata.finalizers?.includes(SNAPSHOT_FINALIZER)) {
      this.change(snapshot, ({ metadata }) => {
        metadata.finalizers = [...(metadata.finalizers ?? []), SNAPSHOT_FINALIZER];
      });
      return;
    }
    const { phase } = snapshot.status ?? {};
    const { namespace } = snapshot.metadata;
    const vm = this.context.find<VirtualMachine>(RESOURCES.vm, namespace, snapshot.spec.source.name);
    if (phase === 'Succeeded' || phase === 'Failed') return this.unlock(snapshot, vm);
    const overdue = this.took(snapshot, 'deadline', goDuration(snapshot.spec.failureDeadline) ?? DEFAULT_DEADLINE_MS);
    if (overdue || suffers(this.context, 'snapshot-failure', vm ?? snapshot)) return this.fail(snapshot);
    if (!vm) return this.wait(snapshot, 'Source does not exist');
    if (vm.status?.snapshotInProgress && vm.status.snapshotInProgress !== snapshot.metadata.name) {
      return this.wait(
        snapshot,
        `Source not locked, VM ${namespace}/${vm.metadata.name} is held by snapshot ${vm.status.snapshotInProgress}`,
      );
    }
    this.lock(vm, snapshot.metadata.name);
    this.progress(snapshot, vm);
  }

  private wait(snapshot: VmSnapshot, reason: string): void {
    this.change(snapshot, (draft) => {
      const status = (draft.status ??= {});
      status.phase = 'InProgress';
      status.readyToUse = false;
      reportProgress(status, { reason, readyReason: 'Not ready', now: this.now });
    });
  }

  private progress(snapshot: VmSnapshot, vm: VirtualMachine): void {
    const { namespace, uid } = snapshot.metadata;
    const contentName = `vmsnapshot-content-${uid}`;
    const content = this.context.find<VmSnapshotContent>(RESOURCES.snapshotContent, namespace, contentName);
    if (!content) {
      this.change(snapshot, (draft) => {
        const status = (draft.status ??= {});
        Object.assign(status, {
          phase: 'InProgress',
          readyToUse: false,
          sourceUID: vm.metadata.uid,
          indications: this.indications(vm),
          virtualMachineSnapshotContentName: contentName,
        });
        reportProgress(status, {
          progressing: true,
          reason: 'Source locked and operation in progress',
          readyReason: 'Not ready',
          now: this.now,
        });
      });
      createContent(this.context, snapshot, vm);
      this.recordEvent(
        snapshot,
        'SuccessfulVirtualMachineSnapshotContentCreate',
        `Successfully created VirtualMachineSnapshotContent ${contentName}`,
      );
      return this.enqueueAfter(snapshot, 0);
    }
    if (!this.took(snapshot, 'cut', 'snapshotTime') || !this.volumesAreReady(snapshot)) return;
    this.complete(snapshot, vm, content);
  }

  private volumesAreReady({ metadata }: VmSnapshot): boolean {
    return this.context.store
      .ownedBy<VolumeSnapshot>(RESOURCES.volumeSnapshot, metadata.uid!)
      .every(({ status }) => status?.readyToUse);
  }

  private complete(snapshot: VmSnapshot, vm: VirtualMachine, content: VmSnapshotContent): void {
    this.context.store.patch<VmSnapshotContent>(RESOURCES.snapshotContent, content.metadata, (draft) => {
      draft.status = {
        readyToUse: true,
        creationTime: this.now,
        volumeSnapshotStatus: (draft.spec.volumeBackups ?? []).map(({ volumeSnapshotName }) => ({
          volumeSnapshotName,
          readyToUse: true,
          creationTime: this.now,
        })),
      };
    });
    this.change(snapshot, (draft) => {
      const status = (draft.status ??= {});
      Object.assign(status, {
        phase: 'Succeeded',
        readyToUse: true,
        creationTime: this.now,
        snapshotVolumes: splitVolumes(vm),
      });
      reportProgress(status, { ready: true, reason: 'Operation complete', readyReason: 'Ready', now: this.now });
    });
  }

  /** A step after the snapshot has ended: until then the VM can't be changed, restored or snapshotted again. */
  private unlock(snapshot: VmSnapshot, vm: VirtualMachine | undefined): void {
    if (vm?.status?.snapshotInProgress !== snapshot.metadata.name) return;
    if (this.took(snapshot, 'unlock', 'snapshotUnlock')) this.lock(vm, undefined);
  }

  private indications(vm: VirtualMachine): string[] {
    const vmi = this.context.find<VirtualMachineInstance>(RESOURCES.vmi, vm.metadata.namespace, vm.metadata.name);
    if (!vmi || isFinal(vmi)) return [];
    const paused = isTrue(vmi.status?.conditions, 'Paused') ? ['Paused'] : [];
    return ['Online', isTrue(vmi.status?.conditions, 'AgentConnected') ? 'GuestAgent' : 'NoGuestAgent', ...paused];
  }

  /** Marks the VM as being snapshotted, or removes the mark. */
  private lock(vm: VirtualMachine, name: string | undefined): void {
    this.context.store.patch<VirtualMachine>(RESOURCES.vm, vm.metadata, (draft) => {
      const others = (draft.metadata.finalizers ?? []).filter((finalizer) => finalizer !== SOURCE_FINALIZER);
      draft.metadata.finalizers = name ? [...others, SOURCE_FINALIZER] : others;
      draft.status ??= {};
      if (name) draft.status.snapshotInProgress = name;
      else delete draft.status.snapshotInProgress;
    });
  }

  private fail(snapshot: VmSnapshot): void {
    this.change(snapshot, (draft) => {
      const status = (draft.status ??= {});
      const reason = 'snapshot deadline exceeded';
      Object.assign(status, { phase: 'Failed', readyToUse: false, error: { message: reason, time: this.now } });
      reportProgress(status, { reason: 'Operation failed', now: this.now });
      setCondition(status.conditions!, { type: 'Failure', status: 'True', reason }, this.now);
    });
  }

  private remove(snapshot: VmSnapshot): void {
    const { namespace } = snapshot.metadata;
    const vm = this.context.find<VirtualMachine>(RESOURCES.vm, namespace, snapshot.spec.source.name);
    if (vm?.status?.snapshotInProgress === snapshot.metadata.name) this.lock(vm, undefined);
    const name = `vmsnapshot-content-${snapshot.metadata.uid}`;
    const content = this.context.find<VmSnapshotContent>(RESOURCES.snapshotContent, namespace, name);
    if (content && snapshot.spec.deletionPolicy !== 'Retain') {
      this.context.discard(RESOURCES.snapshotContent, content.metadata);
      this.context.store.patch(RESOURCES.snapshotContent, content.metadata, ({ metadata }) => {
        metadata.finalizers = [];
      });
    }
    this.change(snapshot, ({ metadata }) => {
      metadata.finalizers = metadata.finalizers?.filter((finalizer) => finalizer !== SNAPSHOT_FINALIZER);
    });
  }

  private get now(): string {
    return this.context.clock.timestamp();
  }
}
