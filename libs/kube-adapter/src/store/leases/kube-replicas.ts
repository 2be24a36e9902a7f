import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import {
  DomainError,
  messageOf,
  Replicas,
  SILENT_LOG,
  type Log,
  type ReplicaListener,
} from '@headgate/domain-contracts';
import { ANNOTATION, LABEL } from '../../labels.js';
import { isNotFound } from '../../api/kube-api-error.js';
import { LEASES } from '../../api/resources.js';
import type { ClusterStore } from '../cluster-store.js';
import { LeaseElection, type LeaseTimes } from './lease-election.js';
import { microTime, ObservedLease, type LeaseObject } from './lease-object.js';
import { hashedName } from '../hashed-name.js';

const LEADER_LEASE = 'headgate-leader';
const REPLICA_LEASE_PREFIX = 'headgate-replica-';
/** The value of the label of the Leases of replicas. */
const REPLICA = 'replica';
/** That of claims. */
const CLAIM = 'claim';
/** Leases of replicas that ended without deleting theirs are deleted after this time. */
const CLEANUP_INTERVAL_MS = 60_000;
const MAX_HOST_CHARS = 200;
const MAX_ATTEMPTS = 5;

export interface KubeReplicasOptions {
  readonly times?: LeaseTimes;
  /** The name of this process; by default its host name, which is the pod's, and a random part. */
  readonly id?: string;
  readonly log?: Log;
}

/**
 * The replicas of a cluster store. Each holds a Lease of its own, which says that it is alive, and one of them holds
 * the Lease of the leader. Open it with `start`, and close it after the work of this replica has stopped.
 */
export class KubeReplicas extends Replicas {
  override readonly id: string;
  private readonly listeners = new Set<ReplicaListener>();
  private readonly observed = new Map<string, ObservedLease>();
  private readonly membership: LeaseElection;
  private readonly leadership: LeaseElection;
  private readonly log: Log;
  private stopCleanup = (): void => undefined;

  constructor(
    private readonly store: ClusterStore,
    { times, id = newId(), log = SILENT_LOG }: KubeReplicasOptions = {},
  ) {
    super();
    this.id = id;
    this.log = log;
    const common = { store, identity: id, times, log };
    this.membership = new LeaseElection({
      ...common,
      name: leaseOf(id),
      labels: { [LABEL.lease]: REPLICA },
      onHeld: () => this.emit((listener) => listener.joined?.()),
      onLost: () => this.emit((listener) => listener.left?.()),
    });
    this.leadership = new LeaseElection({
      ...common,
      name: LEADER_LEASE,
      onHeld: () => this.emit((listener) => listener.elected?.()),
      onLost: () => this.emit((listener) => listener.deposed?.()),
    });
  }

  override get isMember(): boolean {
    return this.membership.isHeld;
  }

  override get isLeader(): boolean {
    return this.leadership.isHeld;
  }

  start(): void {
    this.membership.start();
    this.leadership.start();
    this.stopCleanup = this.store.clock.every(CLEANUP_INTERVAL_MS, () => {
      if (this.isLeader) void this.deleteExpired();
    });
  }

  /** Releases the leadership and deletes the Lease of this replica, so that the others continue immediately. */
  async close(): Promise<void> {
    this.stopCleanup();
    await Promise.all([this.leadership.close(), this.membership.close()]);
    const { api, namespace } = this.store;
    try {
      await api.delete(LEASES, { namespace, name: leaseOf(this.id) });
    } catch (error) {
      this.log.warn({ reason: messageOf(error) }, 'the lease of this replica was not deleted');
    }
  }

  /** Reads the Lease of the replica. One that was never read before counts as alive until its duration has passed. */
  override async isGone(id: string): Promise<boolean> {
    if (id === this.id) return false;
    const { api, namespace, clock } = this.store;
    const lease = await api.find<LeaseObject>(LEASES, { namespace, name: leaseOf(id) });
    if (!lease) {
      this.observed.delete(id);
      return true;
    }
    const observed = this.observed.get(id) ?? new ObservedLease();
    this.observed.set(id, observed);
    observed.observe(lease, clock.now());
    return observed.isFree(clock.now());
  }

  /** A Lease without renewals of its own: it holds as long as the replica that it names is alive. */
  override async claim(name: string): Promise<string> {
    if (!this.isMember)
      throw new DomainError('NOT_READY', 'This replica does not reach the store of the cluster; try again soon.');
    const { api, namespace, clock } = this.store;
    for (let attempt = 1; ; attempt++) {
      const stored = await api.find<LeaseObject>(LEASES, { namespace, name: claimOf(name) });
      const owner = stored?.spec?.holderIdentity;
      if (owner === this.id) return owner;
      if (owner && !(await this.isGone(owner))) return owner;
      const next: LeaseObject = {
        metadata: stored?.metadata ?? {
          namespace,
          name: claimOf(name),
          labels: { [LABEL.lease]: CLAIM },
          annotations: { [ANNOTATION.claim]: name },
        },
        spec: { holderIdentity: this.id, acquireTime: microTime(clock.now()) },
      };
      try {
        if (stored) await api.replace<LeaseObject>(LEASES, next);
        else await api.create<LeaseObject>(LEASES, next);
        return this.id;
      } catch (error) {
        // The leader may have deleted the claim of a replica that is gone since it was read.
        const isOvertaken = DomainError.is(error, 'CONFLICT', 'ALREADY_EXISTS') || isNotFound(error);
        if (!isOvertaken || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  override async release(name: string): Promise<void> {
    const { api, namespace } = this.store;
    const stored = await api.find<LeaseObject>(LEASES, { namespace, name: claimOf(name) });
    if (stored?.spec?.holderIdentity !== this.id) return;
    // Another replica may have taken it since, if this one was paused.
    const { uid, resourceVersion } = stored.metadata;
    await api.delete(LEASES, { namespace, name: claimOf(name) }, { uid, resourceVersion });
  }

  override subscribe(listener: ReplicaListener): () => void {
    this.listeners.add(listener);
    if (this.isMember) listener.joined?.();
    if (this.isLeader) listener.elected?.();
    return () => void this.listeners.delete(listener);
  }

  private emit(call: (listener: ReplicaListener) => void): void {
    for (const listener of [...this.listeners]) call(listener);
  }

  private async deleteExpired(): Promise<void> {
    const { api, namespace } = this.store;
    try {
      const claims = `${LABEL.lease}=${CLAIM}`;
      for (const { metadata, spec } of await api.list<LeaseObject>(LEASES, { namespace, labelSelector: claims })) {
        const { name = '', uid, resourceVersion } = metadata;
        if (await this.isGone(spec?.holderIdentity ?? ''))
          await api.delete(LEASES, { namespace, name }, { uid, resourceVersion });
      }
      const labelSelector = `${LABEL.lease}=${REPLICA}`;
      for (const { metadata } of await api.list<LeaseObject>(LEASES, { namespace, labelSelector })) {
        const { name = '', uid } = metadata;
        if (await this.isGone(name.slice(REPLICA_LEASE_PREFIX.length)))
          await api.delete(LEASES, { namespace, name }, { uid });
      }
    } catch (error) {
      this.log.warn({ reason: messageOf(error) }, 'expired leases were not deleted');
    }
  }
}

/** Names may contain what the name of an object may not. */
const claimOf = (name: string): string => hashedName('headgate-claim', name);

const leaseOf = (id: string): string => `${REPLICA_LEASE_PREFIX}${id}`;

/** A part of the name of an object, so only what such a name may contain. */
function newId(): string {
  const host = hostname()
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_HOST_CHARS);
  return `${host || 'replica'}-${randomBytes(4).toString('hex')}`;
}
