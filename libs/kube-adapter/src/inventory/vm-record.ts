import { isRunningStatus, type InstanceRef, type VirtualMachine } from '@headgate/domain-contracts';
import { diskBytes } from './boot-disk.js';
import type { GuestSize } from './guest-size.js';
import type { VmFacts, VmiFacts } from './vm-facts.js';

/** What stands beside a VM and its instance: sizes that other objects know. */
export interface VmSurroundings {
  readonly claimBytes?: number;
  readonly instancetype?: GuestSize;
}

/** One record out of the VM, its live instance and what stands beside them. */
export function vmRecord(
  ref: InstanceRef & { readonly kind: 'vm' },
  vm: VmFacts,
  vmi: VmiFacts | undefined,
  { claimBytes, instancetype }: VmSurroundings,
): VirtualMachine {
  const running = isRunningStatus(vm.status);
  const live = running ? vmi : undefined;
  const reason = vm.reason ?? (vm.status === 'ErrorUnschedulable' ? vmi?.reason : undefined);
  return {
    ref,
    backend: 'kubevirt',
    uid: vm.uid,
    status: vm.status,
    ready: vm.ready,
    cpu: live?.size.cpu ?? vm.size.cpu ?? instancetype?.cpu ?? 1,
    memoryBytes: live?.size.memoryBytes ?? vm.size.memoryBytes ?? instancetype?.memoryBytes ?? 0,
    diskBytes: diskBytes(vm.disk, claimBytes),
    tags: vm.tags,
    isTemplate: vm.isTemplate,
    liveMigratable: live?.liveMigratable ?? false,
    agentConnected: live?.agentConnected ?? false,
    protected: vm.protected,
    restartRequired: vm.restartRequired,
    ...(vm.createdAt === undefined ? {} : { createdAt: vm.createdAt }),
    ...(live?.node === undefined ? {} : { node: live.node }),
    ...(live?.ip === undefined ? {} : { ip: live.ip }),
    ...(reason === undefined ? {} : { reason }),
  };
}
