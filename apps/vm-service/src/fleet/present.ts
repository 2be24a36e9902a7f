import type { BusyView, ContainerView, VmView } from '@headgate/api-contracts';
import {
  formatBytes,
  formatRef,
  isRunningStatus,
  isVm,
  type Container,
  type VirtualMachine,
} from '@headgate/domain-contracts';
import type { FleetEntry } from '@headgate/fleet';

/** The JSON value of a fleet entry. */
export const presentEntry = (entry: FleetEntry): VmView | ContainerView =>
  isVm(entry.instance) ? presentVm(entry.instance, entry) : presentContainer(entry.instance, entry);

// JSON.stringify omits undefined fields, such as the ip and node of a stopped VM.
function presentVm(vm: VirtualMachine, { stale, folder, busy }: FleetEntry): VmView {
  const running = isRunningStatus(vm.status);
  return {
    name: vm.ref.name,
    namespace: vm.ref.namespace,
    status: vm.status,
    ready: vm.ready,
    running,
    cpu: vm.cpu,
    mem: formatBytes(vm.memoryBytes),
    disk: formatBytes(vm.diskBytes),
    ip: running ? vm.ip : undefined,
    node: running ? vm.node : undefined,
    tags: [...vm.tags],
    ref: formatRef(vm.ref),
    context: vm.ref.context,
    backend: vm.backend,
    isTemplate: vm.isTemplate,
    liveMigratable: vm.liveMigratable,
    agentConnected: vm.agentConnected,
    protected: vm.protected,
    restartRequired: vm.restartRequired,
    pendingCount: vm.pendingCount,
    volatile: vm.volatile,
    reason: vm.reason,
    folder,
    busy: presentBusy(busy),
    createdAt: vm.createdAt,
    os: vm.os,
    startedAt: running ? vm.startedAt : undefined,
    stale: stale || undefined,
  };
}

const presentContainer = (container: Container, { stale, folder, busy }: FleetEntry): ContainerView => ({
  name: container.ref.name,
  namespace: container.ref.namespace,
  node: container.node ?? '',
  phase: container.phase,
  ready: container.ready,
  image: container.image,
  cpu: container.cpu,
  mem: formatBytes(container.memoryBytes),
  privileged: container.privileged,
  ref: formatRef(container.ref),
  context: container.ref.context,
  backend: container.backend,
  tags: [...container.tags],
  reason: container.reason,
  folder,
  busy: presentBusy(busy),
  createdAt: container.createdAt,
  stale: stale || undefined,
});

const presentBusy = (busy: FleetEntry['busy']): BusyView | undefined =>
  busy && { task: busy.task, action: busy.operation };
