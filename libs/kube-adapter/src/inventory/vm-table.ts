import { isSameInstance, type InstanceRef, type VirtualMachine } from '@headgate/domain-contracts';
import type { DataVolumeFacts } from '../data-volumes/data-volume-facts.js';
import type { GuestSize } from './guest-size.js';
import { vmRecord, type VmFacts, type VmiFacts } from './vm-facts.js';

/** Receives every record that is new or changed, and every removal. */
export interface RecordListener<R> {
  changed(record: R): void;
  removed(ref: InstanceRef): void;
}

interface Row {
  readonly ref: InstanceRef & { readonly kind: 'vm' };
  vm: VmFacts | undefined;
  vmi: VmiFacts | undefined;
  record: VirtualMachine | undefined;
}

/**
 * VMs joined with their live instances (which have the same name), their boot disks and their instancetypes. The cost
 * of a change does not depend on the number of VMs, except for a changed instancetype, which visits all of them.
 */
export class VmTable {
  private readonly rows = new Map<string, Row>();
  /** Rows by the uids of their live instances. */
  private readonly guests = new Map<string, Row>();
  private readonly claimBytes = new Map<string, number>();
  private readonly dataVolumes = new Map<string, DataVolumeFacts>();
  /** VMs by the keys of their claims and DataVolumes, which have the same names. */
  private readonly vmsByVolume = new Map<string, Set<string>>();
  private readonly instancetypes = new Map<string, GuestSize>();

  constructor(
    private readonly context: string,
    private readonly listener: RecordListener<VirtualMachine>,
  ) {}

  *records(): Generator<VirtualMachine> {
    for (const { record } of this.rows.values()) if (record) yield record;
  }

  /** The VM whose live instance has this uid. */
  vmOfGuest(uid: string): VirtualMachine | undefined {
    return this.guests.get(uid)?.record;
  }

  setVm(key: string, vm: VmFacts | undefined): void {
    const row = this.row(key);
    this.index(key, row, vm);
    row.vm = vm;
    this.refresh(key, row);
  }

  setVmi(key: string, vmi: VmiFacts | undefined): void {
    const row = this.row(key);
    if (row.vmi) this.guests.delete(row.vmi.uid);
    if (vmi) this.guests.set(vmi.uid, row);
    row.vmi = vmi;
    this.refresh(key, row);
  }

  setClaimBytes(key: string, bytes: number | undefined): void {
    if (this.claimBytes.get(key) === bytes) return;
    if (bytes === undefined) this.claimBytes.delete(key);
    else this.claimBytes.set(key, bytes);
    this.refreshUsers(key);
  }

  setDataVolume(key: string, facts: DataVolumeFacts | undefined): void {
    if (this.dataVolumes.get(key)?.reason === facts?.reason) return;
    if (facts === undefined) this.dataVolumes.delete(key);
    else this.dataVolumes.set(key, facts);
    this.refreshUsers(key);
  }

  setInstancetype(key: string, size: GuestSize | undefined): void {
    if (size) this.instancetypes.set(key, size);
    else this.instancetypes.delete(key);
    for (const [vm, row] of this.rows) if (row.vm?.instancetype === key) this.refresh(vm, row);
  }

  *vmKeys(): Generator<string> {
    for (const [key, { vm }] of this.rows) if (vm) yield key;
  }

  *vmiKeys(): Generator<string> {
    for (const [key, { vmi }] of this.rows) if (vmi) yield key;
  }

  dataVolumeKeys(): Iterable<string> {
    return this.dataVolumes.keys();
  }

  claimKeys(): Iterable<string> {
    return this.claimBytes.keys();
  }

  instancetypeKeys(): Iterable<string> {
    return this.instancetypes.keys();
  }

  private row(key: string): Row {
    let row = this.rows.get(key);
    if (!row) {
      const [namespace = '', name = ''] = key.split('/');
      row = {
        ref: { kind: 'vm', context: this.context, namespace, name },
        vm: undefined,
        vmi: undefined,
        record: undefined,
      };
      this.rows.set(key, row);
    }
    return row;
  }

  private index(key: string, row: Row, vm: VmFacts | undefined): void {
    const before = volumeKeys(row, row.vm);
    const after = volumeKeys(row, vm);
    for (const volume of before) {
      if (after.has(volume)) continue;
      const vms = this.vmsByVolume.get(volume);
      vms?.delete(key);
      if (vms?.size === 0) this.vmsByVolume.delete(volume);
    }
    for (const volume of after) {
      const vms = this.vmsByVolume.get(volume);
      if (vms) vms.add(key);
      else this.vmsByVolume.set(volume, new Set([key]));
    }
  }

  private refreshUsers(volume: string): void {
    for (const vm of this.vmsByVolume.get(volume) ?? []) this.refresh(vm, this.row(vm));
  }

  private diskReason({ ref }: Row, { dataVolumes }: VmFacts): string | undefined {
    for (const name of dataVolumes) {
      const facts = this.dataVolumes.get(`${ref.namespace}/${name}`);
      if (facts) return facts.reason;
    }
    return undefined;
  }

  private refresh(key: string, row: Row): void {
    const { vm, vmi, ref } = row;
    if (!vm) {
      if (!vmi) this.rows.delete(key);
      if (row.record) this.listener.removed(ref);
      row.record = undefined;
      return;
    }
    const claim = claimKey(row, vm);
    const record = vmRecord(ref, vm, vmi, {
      claimBytes: claim === undefined ? undefined : this.claimBytes.get(claim),
      instancetype: vm.instancetype === undefined ? undefined : this.instancetypes.get(vm.instancetype),
      diskReason: this.diskReason(row, vm),
    });
    if (row.record && isSameInstance(row.record, record)) return;
    row.record = record;
    this.listener.changed(record);
  }
}

function volumeKeys({ ref }: Row, vm: VmFacts | undefined): ReadonlySet<string> {
  const names = vm?.disk.claim === undefined ? (vm?.dataVolumes ?? []) : [vm.disk.claim, ...vm.dataVolumes];
  return new Set(names.map((name) => `${ref.namespace}/${name}`));
}

const claimKey = ({ ref }: Row, vm: VmFacts | undefined): string | undefined =>
  vm?.disk.claim === undefined ? undefined : `${ref.namespace}/${vm.disk.claim}`;
