import type { InstanceRef, VirtualMachine } from '@headgate/domain-contracts';
import { isIoError, statusOf, type StatusAndReason } from '../domains/domain-status.js';
import type { DomainSnapshot } from '../domains/domain-reader.js';
import { LIBVIRT_TRAITS } from '../libvirt-traits.js';

/** Facts about a domain that are not in its XML. */
export interface Observations {
  readonly ref: InstanceRef & { readonly kind: 'vm' };
  /** Host name of the libvirt node. */
  readonly host: string;
  /** Whether there is another host to which a running guest can be migrated. */
  readonly canMigrate: boolean;
  readonly ip?: string;
  /** ISO 8601. Absent when the start was not observed. */
  readonly startedAt?: string;
  /** Present during a graceful shutdown, with its problem if there is one. */
  readonly stopping?: { readonly reason?: string };
}

export function toVirtualMachine(
  snapshot: DomainSnapshot,
  { ref, host, canMigrate, ip, startedAt, stopping }: Observations,
): VirtualMachine {
  const { description, diskBytes } = snapshot;
  const { metadata, agent } = description;
  const { status, reason } = shownStatus(snapshot, stopping);
  const { isActive } = snapshot.state;
  return {
    ref,
    backend: LIBVIRT_TRAITS.kind,
    uid: description.uuid,
    status,
    ready: status === 'Running',
    cpu: description.cpu,
    memoryBytes: description.memoryBytes,
    diskBytes: diskBytes || plannedBytes(snapshot),
    ...(isActive && { node: host }),
    ...(isActive && ip !== undefined && { ip }),
    tags: metadata.tags,
    ...(metadata.createdAt !== undefined && { createdAt: metadata.createdAt }),
    ...(reason !== undefined && { reason }),
    ...(metadata.os !== undefined && { os: metadata.os }),
    ...(isActive && startedAt !== undefined && { startedAt }),
    isTemplate: metadata.isTemplate,
    liveMigratable: canMigrate && isActive,
    agentConnected: isActive && agent === 'connected',
    protected: metadata.isProtected,
    restartRequired: snapshot.pendingCount > 0,
    ...(snapshot.pendingCount > 0 && { pendingCount: snapshot.pendingCount }),
  };
}

/** The requested size, while the disk does not exist. */
const plannedBytes = ({ description: { metadata } }: DomainSnapshot): number =>
  ((metadata.provisioning ?? metadata.failure) !== undefined &&
    metadata.volumes.find(({ role }) => role === 'disk')?.bytes) ||
  0;

function shownStatus({ state, description }: DomainSnapshot, stopping: Observations['stopping']): StatusAndReason {
  if (!state.isActive && description.metadata.provisioning !== undefined) return { status: 'Provisioning' };
  const { failure } = description.metadata;
  if (!state.isActive && failure !== undefined) return { status: 'DataVolumeError', reason: failure };
  const shown = statusOf(state);
  if (description.unreadable !== undefined) return { ...shown, reason: description.unreadable };
  if (description.metadata.pending?.kind === 'backup-restore' && isIoError(state))
    return {
      ...shown,
      reason: 'The guest waits for its backup, and continues when that can be read: see the task of its restore.',
    };
  // libvirt reports "running" until the guest has shut down.
  return shown.status === 'Running' && stopping ? { status: 'Stopping', reason: stopping.reason } : shown;
}
