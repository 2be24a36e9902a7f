import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { RehearsedChangeDto } from '@headgate/api-contracts';
import {
  BackendDirectory,
  Clock,
  DomainError,
  FolderDirectory,
  formatRef,
  INSTANCE_KINDS,
  messageOf,
  parseRef,
  type Caller,
  type Instance,
  type InstanceIdentity,
  type Log,
} from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import type { PlannedChange, TwinOutcome } from '@headgate/rehearsals';
import { TwinCluster } from '../../engines/twin-cluster.js';
import { LOGGER } from '../../platform/tokens.js';
import { expectPossible, TwinRun } from './twin-run.js';

/** A twin of more would keep the service busy for too long. */
export const MAX_OBJECTS = 20_000;
export const TIME_LIMIT_MS = 60_000;

/** What no twin simulates, whatever the cluster. */
const LIMITS = [
  'Simulated: the cluster with its scheduler (resources, taints, node affinity and selectors), KubeVirt and CDI. No real guest runs: each one starts, stops and migrates as a healthy one.',
  'Not simulated: priorities, preemption, other affinity of pods, storage drivers, networks, quotas and failures of hardware. Durations are examples.',
];

export interface TwinRequest {
  readonly dto: RehearsedChangeDto;
  readonly planned: PlannedChange;
  readonly caller: Caller;
  /** Ends the twin before its time. */
  readonly signal?: AbortSignal;
}

/**
 * Carries out planned changes in simulations of their contexts. The real engine is only read. One twin exists at a
 * time, and is thrown away after its change.
 */
@Injectable()
export class Twins implements OnApplicationShutdown {
  private isBusy = false;
  private readonly shutdown = new AbortController();

  constructor(
    private readonly fleet: FleetReader,
    private readonly backends: BackendDirectory,
    private readonly folders: FolderDirectory,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(LOGGER) private readonly log: Log,
  ) {}

  onApplicationShutdown(): void {
    this.shutdown.abort(new DomainError('SHUTTING_DOWN', 'The service is shutting down.'));
  }

  /**
   * @throws DomainError NOT_SUPPORTED for a context or change without a twin, BUSY while there is another one,
   *   BACKEND_TIMEOUT after a minute, and what the reading of the objects throws
   */
  async run(request: TwinRequest): Promise<TwinOutcome> {
    const context = contextOf(request.planned.targets);
    expectPossible(request.dto);
    this.backends.get(context).require('twin');
    if (this.isBusy) throw new DomainError('BUSY', 'Another twin is in use; try again in a minute.');
    this.isBusy = true;
    const limit = new AbortController();
    const cancel = this.clock.after(TIME_LIMIT_MS, () => limit.abort(tooSlow()));
    const began = this.clock.monotonic();
    try {
      const signals = [limit.signal, this.shutdown.signal, ...(request.signal ? [request.signal] : [])];
      return await this.runIn(context, request, AbortSignal.any(signals));
    } finally {
      cancel();
      this.isBusy = false;
      this.log.info({ context, ms: Math.round(this.clock.monotonic() - began) }, 'twin ended');
    }
  }

  private async runIn(context: string, request: TwinRequest, signal: AbortSignal): Promise<TwinOutcome> {
    const { folders, clock } = this;
    const real = this.instancesOf(context);
    const found = await this.backends.get(context).require('twin').read({ maxObjects: MAX_OBJECTS, signal });
    const cluster = await TwinCluster.open({ context, found, signal });
    try {
      const run = new TwinRun(cluster, { ...request, folders, clock, signal, real });
      try {
        const findings = await run.run();
        return {
          ...findings,
          context,
          readAt: new Date(found.readAt).toISOString(),
          objects: cluster.objects,
          notes: [...LIMITS, ...found.gaps, ...cluster.notes, ...findings.notes],
        };
      } finally {
        await run.close();
      }
    } finally {
      await cluster
        .close()
        .catch((error: unknown) => this.log.warn({ reason: messageOf(error) }, 'closing a twin failed'));
    }
  }

  private instancesOf(context: string): ReadonlyMap<string, Instance> {
    const instances = INSTANCE_KINDS.flatMap((kind) => [...this.fleet.all(kind)].map(({ instance }) => instance));
    return new Map(
      instances.filter(({ ref }) => ref.context === context).map((instance) => [formatRef(instance.ref), instance]),
    );
  }
}

/** @throws DomainError NOT_SUPPORTED for several contexts */
function contextOf(targets: readonly InstanceIdentity[]): string {
  const contexts = new Set(targets.map(({ ref }) => parseRef(ref).context));
  const [only = ''] = contexts;
  if (contexts.size <= 1) return only;
  throw new DomainError('NOT_SUPPORTED', 'A twin is of one context: choose instances of one.');
}

const tooSlow = (): DomainError =>
  new DomainError(
    'BACKEND_TIMEOUT',
    `The twin was ended after ${TIME_LIMIT_MS / 1000} s: the cluster answers too slowly, or is too large for it.`,
  );
