import { isRunningStatus, isVm, type VirtualMachine } from '@headgate/domain-contracts';
import { searchedText, type FleetEntry } from '@headgate/fleet';
import { KINDS, optional, osNames, type EntryReader } from '@headgate/instance-query';

const isFlagged =
  (flag: 'agentConnected' | 'isTemplate' | 'liveMigratable' | 'protected' | 'restartRequired' | 'volatile') =>
  ({ instance }: FleetEntry): boolean =>
    isVm(instance) && instance[flag] === true;

/** A VM shows its address and its node only while it runs. */
const isShown = (vm: VirtualMachine): boolean => isRunningStatus(vm.status);

/** Reads the entries of the fleet as `presentEntry` shows them, without presenting them. */
export const ENTRY_FIELDS: EntryReader<FleetEntry> = {
  words: searchedText,
  texts: {
    name: ({ instance }) => [instance.ref.name],
    ns: ({ instance }) => [instance.ref.namespace],
    kind: ({ instance }) => KINDS[instance.ref.kind],
    status: ({ instance }) => [isVm(instance) ? instance.status : instance.phase],
    context: ({ instance }) => [instance.ref.context],
    backend: ({ instance }) => [instance.backend],
    node: ({ instance }) => (isVm(instance) && !isShown(instance) ? [] : optional(instance.node)),
    folder: ({ folder }) => optional(folder),
    tag: ({ instance }) => instance.tags,
    ip: ({ instance }) => (isVm(instance) && isShown(instance) ? optional(instance.ip) : []),
    image: ({ instance }) => (isVm(instance) ? [] : optional(instance.image)),
    os: ({ instance }) => (isVm(instance) ? osNames(instance.os) : []),
    reason: ({ instance }) => optional(instance.reason),
  },
  amounts: {
    cpu: ({ instance }) => instance.cpu,
    mem: ({ instance }) => instance.memoryBytes,
    disk: ({ instance }) => (isVm(instance) ? instance.diskBytes : undefined),
    created: ({ instance: { createdAt } }) => (createdAt === undefined ? undefined : Date.parse(createdAt)),
    pending: ({ instance }) => (isVm(instance) ? (instance.pendingCount ?? 0) : undefined),
    started: ({ instance }) =>
      isVm(instance) && isShown(instance) && instance.startedAt !== undefined
        ? Date.parse(instance.startedAt)
        : undefined,
  },
  flags: {
    agent: isFlagged('agentConnected'),
    busy: ({ busy }) => busy !== undefined,
    migratable: isFlagged('liveMigratable'),
    privileged: ({ instance }) => !isVm(instance) && instance.privileged,
    protected: isFlagged('protected'),
    ready: ({ instance }) => instance.ready,
    'restart-required': isFlagged('restartRequired'),
    running: ({ instance }) => (isVm(instance) ? isRunningStatus(instance.status) : instance.phase === 'Running'),
    stale: ({ stale }) => stale,
    template: isFlagged('isTemplate'),
    volatile: isFlagged('volatile'),
  },
};
