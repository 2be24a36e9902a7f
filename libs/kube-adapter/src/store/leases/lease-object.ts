import type { KubeObject } from '../../api/kube-object.js';

/** https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/ */
export interface LeaseObject extends KubeObject {
  readonly spec?: {
    /** Empty when the last holder has released it. */
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

const SECOND_MS = 1000;

/** The API server accepts times of a Lease with microseconds only. */
export const microTime = (timeMs: number): string => new Date(timeMs).toISOString().replace('Z', '000Z');

/** Whole seconds, as the field demands. */
export const leaseSeconds = (durationMs: number): number => Math.max(1, Math.ceil(durationMs / SECOND_MS));

/**
 * When a lease was last seen to change, by the clock of this process. As in client-go, the times in the lease are not
 * compared with it, because the clocks of two machines differ.
 */
export class ObservedLease {
  private version: string | undefined;
  private changedAt = 0;
  private durationMs = 0;
  object: LeaseObject | undefined;

  observe(object: LeaseObject, nowMs: number): void {
    this.object = object;
    const { resourceVersion } = object.metadata;
    if (resourceVersion === this.version) return;
    this.version = resourceVersion;
    this.changedAt = nowMs;
    this.durationMs = (object.spec?.leaseDurationSeconds ?? 0) * SECOND_MS;
  }

  /** Whether its holder has not renewed it for its whole duration, or has released it. */
  isFree(nowMs: number): boolean {
    return !this.object?.spec?.holderIdentity || nowMs - this.changedAt >= this.durationMs;
  }
}
