import { ApiError, applyJsonPatch } from '@headgate/kube-sandbox';
import { RESOURCES } from '../../resources.js';
import { setCondition } from '../../types/condition.js';
import type { PersistentVolumeClaim } from '../../types/core-kinds.js';
import type { VmRestore, VmSnapshot, VmSnapshotContent } from '../../types/kubevirt-kinds.js';
import { runStrategyOf, type VirtualMachine } from '../../types/virtual-machine.js';
import { controlledBy, type SimulationContext } from '../../simulation-context.js';
import { Controller } from '../controller.js';
import { VM_FINALIZER } from '../../machines/instance-builder.js';
import { claimsToReplace, createRestoredClaim, isOwned, restoredClaimName, restoredSpec } from './restored-machine.js';
import { reportProgress } from './snapshot-conditions.js';

const GRACE_MS = 300_000;

/** Restores VMs from snapshots: waits until the target is off, creates claims, replaces the spec. */
export class RestoreController extends Controller<VmRestore> {
  constructor(context: SimulationContext) {
    super(context, RESOURCES.restore, 'restore-controller');
  }

  protected override watchRelated(): void {
    this.watch<VmRestore>(RESOURCES.restore, ({ type, object }) => {
      if (type === 'DELETED') this.release(object);
    });
    this.watch<VirtualMachine>(RESOURCES.vm, ({ object: { metadata } }) =>
      this.enqueueOpen(metadata.namespace, ({ target }) => target.name === metadata.name),
    );
    this.watch<VmSnapshot>(RESOURCES.snapshot, ({ object: { metadata } }) =>
      this.enqueueOpen(metadata.namespace, ({ virtualMachineSnapshotName: name }) => name === metadata.name),
    );
    this.watch<PersistentVolumeClaim>(RESOURCES.claim, ({ object, type }) => {
      const name = object.metadata.annotations?.['restore.kubevirt.io/name'];
      if (name) this.enqueue({ namespace: object.metadata.namespace, name });
      // A restore in place waits until the claims that it replaces are gone.
      if (type === 'DELETED')
        this.enqueueOpen(object.metadata.namespace, ({ volumeRestorePolicy }) => volumeRestorePolicy === 'InPlace');
    });
  }

  private enqueueOpen(namespace: string | undefined, concerns: (spec: VmRestore['spec']) => boolean): void {
    if (this.context.store.count(RESOURCES.restore) === 0) return;
    const restores = this.context.store.list<VmRestore>(RESOURCES.restore, {
      namespace,
      where: ({ status, spec }) => !status?.complete && concerns(spec),
    });
    for (const { metadata } of restores) this.enqueue(metadata);
  }

  protected override reconcile(restore: VmRestore): void {
    if (restore.metadata.deletionTimestamp || restore.status?.complete) return;
    if (restore.status?.conditions?.some(({ type }) => type === 'Failure')) return;
    const { namespace } = restore.metadata;
    const { virtualMachineSnapshotName: snapshotName, target } = restore.spec;
    const snapshot = this.context.find<VmSnapshot>(RESOURCES.snapshot, namespace, snapshotName);
    const id = `VMSnapshot ${namespace}/${snapshotName}`;
    if (!snapshot) return this.reportState(restore, `${id} does not exist`);
    if (snapshot.status?.phase === 'Failed') return this.reportState(restore, `${id} failed and is invalid to use`);
    if (!snapshot.status?.readyToUse) return this.reportState(restore, `${id} not ready`);
    const content = this.context.find<VmSnapshotContent>(
      RESOURCES.snapshotContent,
      namespace,
      snapshot.status.virtualMachineSnapshotContentName ?? '',
    );
    if (!content) return this.reportState(restore, `${id} not ready`);
    const vm = this.context.find<VirtualMachine>(RESOURCES.vm, namespace, target.name);
    const foreign = vm && vm.metadata.uid !== snapshot.status.sourceUID && !this.isOurs(vm, restore);
    if (foreign) {
      return this.reportState(
        restore,
        'restore source and restore target are different but restore target already exists',
      );
    }
    if (vm && !this.targetIsOff(restore, vm)) return;
    this.restore(restore, content, vm);
  }

  /** A restore that is deleted before its end no longer holds its VM. */
  private release({ metadata: { namespace, name }, spec }: VmRestore): void {
    const vm = this.context.find<VirtualMachine>(RESOURCES.vm, namespace, spec.target.name);
    if (vm?.status?.restoreInProgress !== name) return;
    this.context.store.patch<VirtualMachine>(RESOURCES.vm, vm.metadata, ({ status }) => {
      delete status!.restoreInProgress;
    });
  }

  private isOurs(vm: VirtualMachine, restore: VmRestore): boolean {
    return (
      vm.metadata.annotations?.['restore.kubevirt.io/lastRestoreUID'] ===
      `${restore.spec.target.name}-${restore.metadata.uid}`
    );
  }

  private targetIsOff(restore: VmRestore, vm: VirtualMachine): boolean {
    const live = this.context.find(RESOURCES.vmi, vm.metadata.namespace, vm.metadata.name);
    if (!live) return true;
    const policy = restore.spec.targetReadinessPolicy ?? 'WaitGracePeriod';
    if (policy === 'FailImmediate') {
      this.fail(restore, 'Restore target VMI must be powered off before restore operation');
    } else if (policy === 'StopTarget') {
      if (runStrategyOf(vm) !== 'Halted') this.halt(vm);
      this.reportState(restore, 'Automatically stopping restore target for restore operation');
    } else if (policy === 'WaitGracePeriod' && this.took(restore, 'grace', GRACE_MS)) {
      this.fail(
        restore,
        'Restore target failed to be ready within 5m0s. Please power off the target VM before attempting restore',
      );
    } else {
      const clause = policy === 'WaitGracePeriod' ? ', or the operation will fail after 5m0s' : '';
      const ask = 'Waiting for target VM to be powered off. Please stop the restore target to proceed with restore';
      this.reportState(restore, `${ask}${clause}`);
    }
    return false;
  }

  private halt(vm: VirtualMachine): void {
    this.context.store.patch<VirtualMachine>(RESOURCES.vm, vm.metadata, ({ spec }) => {
      if (spec.running === undefined) spec.runStrategy = 'Halted';
      else spec.running = false;
    });
  }

  private restore(restore: VmRestore, content: VmSnapshotContent, vm: VirtualMachine | undefined): void {
    const backups = content.spec.volumeBackups ?? [];
    if (vm && vm.status?.restoreInProgress !== restore.metadata.name) {
      this.context.store.patch<VirtualMachine>(RESOURCES.vm, vm.metadata, (draft) => {
        draft.status = { ...draft.status, restoreInProgress: restore.metadata.name };
      });
    }
    if (!restore.status?.restores) {
      const old = claimsToReplace(this.context, restore, backups);
      if (old.length > 0 && !vm) return this.failForOthers(restore, old);
      if (old.length > 0) return this.discardDisks(restore, old);
      for (const backup of backups) createRestoredClaim(this.context, restore, backup, vm);
      this.change(restore, (draft) => {
        draft.status = {
          ...draft.status,
          complete: false,
          restores: backups.map(({ volumeName, persistentVolumeClaim, volumeSnapshotName = '' }) => ({
            volumeName,
            persistentVolumeClaim: restoredClaimName(restore, { volumeName, persistentVolumeClaim }),
            volumeSnapshotName,
          })),
        };
        reportProgress(draft.status, { progressing: true, reason: 'Creating new PVCs', now: this.now });
      });
      return;
    }
    if (!this.took(restore, 'copy', 'restoreTime')) return this.reportState(restore, 'Waiting for new PVCs', true);
    this.replace(restore, content, vm);
  }

  /** The disks with these names belong to the VM that was saved, which would create them again immediately. */
  private failForOthers(restore: VmRestore, claims: readonly PersistentVolumeClaim[]): void {
    const names = claims.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`).join(', ');
    this.fail(
      restore,
      `Restore target ${restore.spec.target.name} does not exist, and the PVC ${names} already exists`,
    );
  }

  /** Deletes the disks that a restore in place replaces, with the DataVolumes that own them. */
  private discardDisks(restore: VmRestore, claims: readonly PersistentVolumeClaim[]): void {
    const deleted = claims.flatMap(({ metadata: { namespace, name } }) =>
      this.context.find(RESOURCES.dataVolume, namespace, name) ? [name] : [],
    );
    if (deleted.length > 0) {
      this.change(restore, (draft) => {
        const known = draft.status?.deletedDataVolumes ?? [];
        draft.status = { ...draft.status, deletedDataVolumes: [...new Set([...known, ...deleted])] };
      });
    }
    for (const { metadata } of claims) {
      this.context.discard(RESOURCES.dataVolume, metadata);
      this.context.discard(RESOURCES.claim, metadata);
    }
    this.reportState(restore, 'Creating new PVCs', true);
  }

  private replace(restore: VmRestore, content: VmSnapshotContent, vm: VirtualMachine | undefined): void {
    const spec = restoredSpec(restore, content);
    const lastRestore = `${restore.spec.target.name}-${restore.metadata.uid}`;
    const deleted = [...(restore.status?.deletedDataVolumes ?? [])];
    const kept = new Set((restore.status?.restores ?? []).map(({ persistentVolumeClaim }) => persistentVolumeClaim));
    if (vm) {
      for (const { metadata } of vm.spec.dataVolumeTemplates ?? []) {
        if (!kept.has(metadata.name) && this.context.find(RESOURCES.dataVolume, vm.metadata.namespace, metadata.name))
          deleted.push(metadata.name);
      }
      this.context.store.patch<VirtualMachine>(RESOURCES.vm, vm.metadata, (draft) => {
        const { running, runStrategy } = draft.spec;
        draft.spec = { ...spec, ...(running === undefined ? { runStrategy } : { running }) };
        if (running !== undefined) delete draft.spec.runStrategy;
        draft.metadata.annotations = {
          ...draft.metadata.annotations,
          'restore.kubevirt.io/lastRestoreUID': lastRestore,
        };
        delete draft.status?.restoreInProgress;
      });
      for (const name of deleted)
        this.context.discard(RESOURCES.dataVolume, { namespace: vm.metadata.namespace, name });
    } else if (!this.createTarget(restore, content, spec, lastRestore)) return;
    this.change(restore, (draft) => {
      draft.status = { ...draft.status, complete: true, restoreTime: this.now };
      if (deleted.length > 0) draft.status.deletedDataVolumes = deleted;
      reportProgress(draft.status, { ready: true, reason: 'Operation complete', now: this.now });
    });
    this.recordEvent(
      restore,
      'VirtualMachineRestoreComplete',
      `Successfully completed VirtualMachineRestore ${restore.metadata.name}`,
    );
  }

  private createTarget(
    restore: VmRestore,
    content: VmSnapshotContent,
    spec: VirtualMachine['spec'],
    lastRestore: string,
  ): boolean {
    const { labels, annotations } = content.spec.source.virtualMachine.metadata;
    const { running: _running, ...rest } = spec;
    const template: VirtualMachine = {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      metadata: {
        name: restore.spec.target.name,
        namespace: restore.metadata.namespace,
        ...(labels ? { labels } : {}),
        annotations: { ...annotations, 'restore.kubevirt.io/lastRestoreUID': lastRestore },
        finalizers: [VM_FINALIZER],
      },
      spec: { ...rest, runStrategy: 'Halted' },
    };
    const adjust = this.context.restoreAdjustments.get(restore.metadata.uid!);
    adjust?.(template);
    const patched = patchedMachine(restore, template);
    if (!patched) {
      this.fail(restore, `Unable to apply the patches to VirtualMachine ${template.metadata.name}`);
      return false;
    }
    const created = this.context.store.create<VirtualMachine>(RESOURCES.vm, patched);
    if (!isOwned(restore)) return true;
    for (const { persistentVolumeClaim } of restore.status?.restores ?? []) {
      const key = { namespace: restore.metadata.namespace, name: persistentVolumeClaim };
      this.context.store.patch<PersistentVolumeClaim>(RESOURCES.claim, key, ({ metadata }) => {
        metadata.ownerReferences = [controlledBy(created)];
      });
    }
    return true;
  }

  private reportState(restore: VmRestore, reason: string, progressing = false): void {
    this.change(restore, (draft) => {
      draft.status = { ...draft.status, complete: false };
      reportProgress(draft.status, { progressing, reason, now: this.now });
    });
  }

  private fail(restore: VmRestore, reason: string): void {
    this.change(restore, (draft) => {
      draft.status = { ...draft.status, complete: false };
      reportProgress(draft.status, { reason, now: this.now });
      setCondition(draft.status.conditions!, { type: 'Failure', status: 'True', reason }, this.now);
    });
  }

  private get now(): string {
    return this.context.clock.timestamp();
  }
}

/** The target with the patches of a restore; undefined when they don't fit. */
function patchedMachine({ spec }: VmRestore, vm: VirtualMachine): VirtualMachine | undefined {
  try {
    const operations = (spec.patches ?? []).map((operation) => JSON.parse(operation) as unknown);
    return applyJsonPatch(vm, operations) as VirtualMachine;
  } catch (error) {
    if (error instanceof ApiError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
