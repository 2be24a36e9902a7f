import { RESOURCES } from '../../resources.js';
import { setCondition } from '../../types/condition.js';
import type { PersistentVolumeClaim } from '../../types/core-kinds.js';
import type { VmClone, VmRestore, VmSnapshot } from '../../types/kubevirt-kinds.js';
import type { VirtualMachine } from '../../types/virtual-machine.js';
import { controlledBy, type World } from '../../world.js';
import { Controller } from '../controller.js';
import { adjustClone } from './cloned-machine.js';
import { tellProgress } from './snapshot-conditions.js';

/** Clones VMs by way of a snapshot and a restore that are thrown away afterwards. */
export class CloneController extends Controller<VmClone> {
  constructor(world: World) {
    super(world, RESOURCES.clone, 'clone-controller');
  }

  protected override watchRelated(): void {
    this.watchOwned(RESOURCES.snapshot, 'VirtualMachineClone');
    this.watchOwned(RESOURCES.restore, 'VirtualMachineClone');
    this.watch(RESOURCES.vm, ({ object }) => {
      if (this.world.store.count(RESOURCES.clone) === 0) return;
      const waiting = this.world.store.list<VmClone>(RESOURCES.clone, {
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
      if (!this.world.find(RESOURCES.snapshot, namespace, source.name))
        return this.pending(clone, `Source ${source.kind} ${source.name} does not exist`);
      return this.createRestore(clone, source.name);
    }
    const vm = this.world.find<VirtualMachine>(RESOURCES.vm, namespace, source.name);
    if (!vm) return this.pending(clone, `Source VM ${source.name} does not exist`);
    const obstacle = unsnapshottable(vm);
    if (obstacle) return this.pending(clone, obstacle);
    const name = `tmp-snapshot-${clone.metadata.uid}`;
    this.world.store.create<VmSnapshot>(RESOURCES.snapshot, {
      apiVersion: 'snapshot.kubevirt.io/v1beta1',
      kind: 'VirtualMachineSnapshot',
      metadata: { name, namespace, ownerReferences: [controlledBy(clone)] },
      spec: { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: source.name } },
    });
    this.tell(clone, 'SnapshotCreated', `created snapshot ${name}`);
    this.enter(clone, 'SnapshotInProgress', { snapshotName: name });
  }

  private awaitSnapshot(clone: VmClone): void {
    const name = clone.status?.snapshotName ?? '';
    const snapshot = this.world.find<VmSnapshot>(RESOURCES.snapshot, clone.metadata.namespace, name);
    if (!snapshot || snapshot.status?.phase === 'Failed') return this.fail(clone, 'snapshot failed');
    if (!snapshot.status?.readyToUse) return;
    this.tell(clone, 'SnapshotReady', `snapshot ${name} is ready`);
    this.createRestore(clone, name);
  }

  private createRestore(clone: VmClone, snapshotName: string): void {
    const { namespace, uid } = clone.metadata;
    const name = `tmp-restore-${uid}`;
    const target = clone.spec.target!;
    const restore = this.world.store.create<VmRestore>(RESOURCES.restore, {
      apiVersion: 'snapshot.kubevirt.io/v1beta1',
      kind: 'VirtualMachineRestore',
      metadata: { name, namespace, ownerReferences: [controlledBy(clone)] },
      spec: {
        target: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: target.name },
        virtualMachineSnapshotName: snapshotName,
      },
    });
    this.world.restoreAdjustments.set(restore.metadata.uid!, (vm) => adjustClone(clone, vm));
    this.tell(clone, 'RestoreCreated', `created restore ${name}`);
    this.enter(clone, 'RestoreInProgress', { restoreName: name, snapshotName });
  }

  private awaitRestore(clone: VmClone): void {
    const restore = this.world.find<VmRestore>(
      RESOURCES.restore,
      clone.metadata.namespace,
      clone.status?.restoreName ?? '',
    );
    if (!restore?.status?.complete) return;
    this.world.restoreAdjustments.delete(restore.metadata.uid!);
    this.enter(clone, 'CreatingTargetVM', { targetName: clone.spec.target!.name });
  }

  private finish(clone: VmClone): void {
    if (!this.took(clone, 'target', 'cloneStep')) return;
    const { namespace } = clone.metadata;
    const vm = this.world.find<VirtualMachine>(RESOURCES.vm, namespace, clone.spec.target!.name);
    if (!vm) return this.fail(clone, 'target VM vanished');
    this.tell(clone, 'TargetVMCreated', `created target VM ${vm.metadata.name}`);
    this.change(clone, (draft) => {
      // With its target the record of the clone goes, too.
      draft.metadata.ownerReferences = [{ ...controlledBy(vm), controller: false }];
      const status = (draft.status ??= {});
      status.phase = 'Succeeded';
      status.creationTime = this.now;
      tellProgress(status, false, true, 'Ready', this.now);
    });
  }

  /** The helpers stay until the new claims are bound: they are filled from them. */
  private cleanHelpers(clone: VmClone): void {
    const { namespace, uid } = clone.metadata;
    const names = [
      [RESOURCES.restore, `tmp-restore-${uid}`],
      [RESOURCES.snapshot, `tmp-snapshot-${uid}`],
    ] as const;
    if (!names.some(([resource, name]) => this.world.find(resource, namespace, name))) return;
    const restore = this.world.find<VmRestore>(RESOURCES.restore, namespace, `tmp-restore-${uid}`);
    const unbound = (restore?.status?.restores ?? []).some(
      ({ persistentVolumeClaim: name }) =>
        this.world.find<PersistentVolumeClaim>(RESOURCES.claim, namespace, name)?.status?.phase === 'Pending',
    );
    if (unbound) return this.lookAgainAfter(clone, 1000);
    for (const [resource, name] of names) this.world.discard(resource, { namespace, name });
    this.tell(clone, 'PVCBound', 'all PVCs for clone are bound');
  }

  private enter(clone: VmClone, phase: string, extra: NonNullable<VmClone['status']>): void {
    this.change(clone, (draft) => {
      const status = (draft.status ??= {});
      Object.assign(status, extra, { phase });
      tellProgress(status, true, false, 'Still processing', this.now);
    });
  }

  private pending(clone: VmClone, why: string): void {
    this.change(clone, (draft) => tellProgress((draft.status ??= {}), false, false, 'Pending', this.now, why));
  }

  private fail(clone: VmClone, why: string): void {
    this.change(clone, (draft) => {
      const status = (draft.status ??= {});
      status.phase = 'Failed';
      tellProgress(status, false, false, why, this.now);
      setCondition(status.conditions!, { type: 'Failure', status: 'True', reason: why }, this.now);
    });
  }

  private get now(): string {
    return this.world.clock.timestamp();
  }
}

/** A claim that can't be snapshotted keeps a VM from being cloned; disks that are made anew do not. */
export function unsnapshottable(vm: VirtualMachine): string | undefined {
  const statuses = vm.status?.volumeSnapshotStatuses ?? [];
  const broken = statuses.find(
    ({ enabled, reason = '' }) => !enabled && !reason.startsWith('Snapshot is not supported'),
  );
  return broken && `Virtual Machine volume ${broken.name} does not support snapshots`;
}
