import { RESOURCES } from '../../resources.js';
import { setCondition } from '../../types/condition.js';
import type { PersistentVolumeClaim } from '../../types/core-kinds.js';
import type { VmClone, VmRestore, VmSnapshot } from '../../types/kubevirt-kinds.js';
import type { VirtualMachine } from '../../types/virtual-machine.js';
import { controlledBy, type SimulationContext } from '../../simulation-context.js';
import { unsnapshottable } from '../../machines/unsnapshottable.js';
import { Controller } from '../controller.js';
import { adjustClone } from './cloned-machine.js';
import { reportProgress } from './snapshot-conditions.js';

/** Clones VMs through a temporary snapshot and restore. */
export class CloneController extends Controller<VmClone> {
  constructor(context: SimulationContext) {
    super(context, RESOURCES.clone, 'clone-controller');
  }

  protected override watchRelated(): void {
    this.watchOwned(RESOURCES.snapshot, 'VirtualMachineClone');
    this.watchOwned(RESOURCES.restore, 'VirtualMachineClone');
    this.watch(RESOURCES.vm, ({ object }) => {
      if (this.context.store.count(RESOURCES.clone) === 0) return;
      const waiting = this.context.store.list<VmClone>(RESOURCES.clone, {
        namespace: object.metadata.namespace,
        where: ({ spec, status }) => !status?.phase && spec.source.name === object.metadata.name,
      });
      for (const { metadata } of waiting) this.enqueue(metadata);
    });
  }

  protected override reconcile(clone: VmClone): void {
    const { phase = '' } = clone.status ?? {};
    if (clone.metadata.deletionTimestamp || phase === 'Failed') return;
    switch (phase) {
      case '':
        return this.begin(clone);
      case 'SnapshotInProgress':
        return this.awaitSnapshot(clone);
      case 'RestoreInProgress':
        return this.awaitRestore(clone);
      case 'CreatingTargetVM':
        return this.finish(clone);
      case 'Succeeded':
        return this.cleanHelpers(clone);
    }
  }

  private begin(clone: VmClone): void {
    const { source } = clone.spec;
    const { namespace } = clone.metadata;
    if (source.kind === 'VirtualMachineSnapshot') {
      if (!this.context.find(RESOURCES.snapshot, namespace, source.name))
        return this.pending(clone, `Source ${source.kind} ${source.name} does not exist`);
      return this.createRestore(clone, source.name);
    }
    const vm = this.context.find<VirtualMachine>(RESOURCES.vm, namespace, source.name);
    if (!vm) return this.pending(clone, `Source VM ${source.name} does not exist`);
    const obstacle = unsnapshottable(vm);
    if (obstacle) return this.pending(clone, obstacle);
    const name = `tmp-snapshot-${clone.metadata.uid}`;
    this.context.store.create<VmSnapshot>(RESOURCES.snapshot, {
      apiVersion: 'snapshot.kubevirt.io/v1beta1',
      kind: 'VirtualMachineSnapshot',
      metadata: { name, namespace, ownerReferences: [controlledBy(clone)] },
      spec: { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: source.name } },
    });
    this.recordEvent(clone, 'SnapshotCreated', `created snapshot ${name}`);
    this.enter(clone, 'SnapshotInProgress', { snapshotName: name });
  }

  private awaitSnapshot(clone: VmClone): void {
    const name = clone.status?.snapshotName ?? '';
    const snapshot = this.context.find<VmSnapshot>(RESOURCES.snapshot, clone.metadata.namespace, name);
    if (!snapshot || snapshot.status?.phase === 'Failed') return this.fail(clone, 'snapshot failed');
    if (!snapshot.status?.readyToUse) return;
    this.recordEvent(clone, 'SnapshotReady', `snapshot ${name} is ready`);
    this.createRestore(clone, name);
  }

  private createRestore(clone: VmClone, snapshotName: string): void {
    const { namespace, uid } = clone.metadata;
    const name = `tmp-restore-${uid}`;
    const target = clone.spec.target!;
    const restore = this.context.store.create<VmRestore>(RESOURCES.restore, {
      apiVersion: 'snapshot.kubevirt.io/v1beta1',
      kind: 'VirtualMachineRestore',
      metadata: { name, namespace, ownerReferences: [controlledBy(clone)] },
      spec: {
        target: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: target.name },
        virtualMachineSnapshotName: snapshotName,
        ...(clone.spec.patches ? { patches: clone.spec.patches } : {}),
        ...(clone.spec.volumeNamePolicy ? { volumeRestorePolicy: clone.spec.volumeNamePolicy } : {}),
      },
    });
    this.context.restoreAdjustments.set(restore.metadata.uid!, (vm) => adjustClone(clone, vm));
    this.recordEvent(clone, 'RestoreCreated', `created restore ${name}`);
    this.enter(clone, 'RestoreInProgress', { restoreName: name, snapshotName });
  }

  private awaitRestore(clone: VmClone): void {
    const restore = this.context.find<VmRestore>(
      RESOURCES.restore,
      clone.metadata.namespace,
      clone.status?.restoreName ?? '',
    );
    if (restore?.status?.conditions?.some(({ type }) => type === 'Failure')) return this.fail(clone, 'restore failed');
    if (!restore?.status?.complete) return;
    this.context.restoreAdjustments.delete(restore.metadata.uid!);
    this.enter(clone, 'CreatingTargetVM', { targetName: clone.spec.target!.name });
  }

  private finish(clone: VmClone): void {
    if (!this.took(clone, 'target', 'cloneStep')) return;
    const { namespace } = clone.metadata;
    const vm = this.context.find<VirtualMachine>(RESOURCES.vm, namespace, clone.spec.target!.name);
    if (!vm) return this.fail(clone, 'target VM vanished');
    this.recordEvent(clone, 'TargetVMCreated', `created target VM ${vm.metadata.name}`);
    this.change(clone, (draft) => {
      // The record of the clone is deleted with its target.
      draft.metadata.ownerReferences = [{ ...controlledBy(vm), controller: false }];
      const status = (draft.status ??= {});
      status.phase = 'Succeeded';
      status.creationTime = this.now;
      reportProgress(status, { ready: true, reason: 'Ready', now: this.now });
    });
  }

  /** The temporary objects stay until the new claims are bound, because the claims are filled from them. */
  private cleanHelpers(clone: VmClone): void {
    const { namespace, uid } = clone.metadata;
    const names = [
      [RESOURCES.restore, `tmp-restore-${uid}`],
      [RESOURCES.snapshot, `tmp-snapshot-${uid}`],
    ] as const;
    if (!names.some(([resource, name]) => this.context.find(resource, namespace, name))) return;
    const restore = this.context.find<VmRestore>(RESOURCES.restore, namespace, `tmp-restore-${uid}`);
    const unbound = (restore?.status?.restores ?? []).some(
      ({ persistentVolumeClaim: name }) =>
        this.context.find<PersistentVolumeClaim>(RESOURCES.claim, namespace, name)?.status?.phase === 'Pending',
    );
    if (unbound) return this.enqueueAfter(clone, 1000);
    for (const [resource, name] of names) this.context.discard(resource, { namespace, name });
    this.recordEvent(clone, 'PVCBound', 'all PVCs for clone are bound');
  }

  private enter(clone: VmClone, phase: string, extra: NonNullable<VmClone['status']>): void {
    this.change(clone, (draft) => {
      const status = (draft.status ??= {});
      Object.assign(status, extra, { phase });
      reportProgress(status, { progressing: true, reason: 'Still processing', now: this.now });
    });
  }

  private pending(clone: VmClone, why: string): void {
    this.change(clone, (draft) =>
      reportProgress((draft.status ??= {}), { reason: 'Pending', readyReason: why, now: this.now }),
    );
  }

  private fail(clone: VmClone, why: string): void {
    this.change(clone, (draft) => {
      const status = (draft.status ??= {});
      status.phase = 'Failed';
      reportProgress(status, { reason: why, now: this.now });
      setCondition(status.conditions!, { type: 'Failure', status: 'True', reason: why }, this.now);
    });
  }

  private get now(): string {
    return this.context.clock.timestamp();
  }
}
