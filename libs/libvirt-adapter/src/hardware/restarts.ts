import {
  DomainError,
  messageOf,
  type Clock,
  type HardwareEffect,
  type Log,
  type PlanStep,
} from '@headgate/domain-contracts';
import type { DomainId } from '../connection/domain-operations.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { DomainEditor } from '../domains/domain-editor.js';
import type { StopRequests } from '../domains/stop-requests.js';
import { startDomain } from '../domains/start-domain.js';
import type { KeyedLock } from '../locks/concurrency.js';
import type { DomainHardware } from './domain-hardware.js';

export interface RestartsDeps {
  readonly connection: LibvirtConnection;
  readonly editor: DomainEditor;
  readonly lock: KeyedLock;
  readonly stops: Pick<StopRequests, 'isStopping'>;
  /** The identity of this service, which marks its own unfinished work. */
  readonly mark: () => string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * How long a guest may take to shut down, and how often it is asked to: one that still boots misses its power button.
 */
const SHUTDOWN_TIMEOUT_MS = 60_000;
const PRESS_INTERVAL_MS = 5000;
const POLL_MS = 250;

/** Stops and starts VMs whose new configuration takes effect only then. */
export class Restarts {
  constructor(private readonly deps: RestartsDeps) {}

  /**
   * When a change takes effect that the guest can't get while it runs. A VM that is being stopped must not run again.
   */
  effectOf({ id, state }: Pick<DomainHardware, 'id' | 'state'>, isRestartWanted: boolean): HardwareEffect {
    return state.isActive && isRestartWanted && !this.deps.stops.isStopping(id.uuid) ? 'restart' : 'next-start';
  }

  steps(name: string): PlanStep[] {
    return [
      { name: 'stop', detail: `Shut down ${name}.` },
      { name: 'start', detail: `Start ${name} again.` },
    ];
  }

  /**
   * Shuts the guest down, stores the configuration and starts the guest. The domain is marked meanwhile, so that it is
   * started after all if this process ends in between.
   * @throws DomainError BACKEND_TIMEOUT when the guest does not shut down; then nothing was changed
   */
  async run({ uuid, name }: DomainId, store: () => Promise<void>): Promise<void> {
    const { connection, editor, mark } = this.deps;
    await editor.updateMetadata(uuid, (metadata) => ({ ...metadata, restarting: mark() }));
    try {
      await this.stop(uuid, name);
      await store();
    } finally {
      // Also if the configuration was refused: the guest ran before.
      const domain = await connection.domains.inspect(uuid);
      if (domain && !domain.state.isActive) await startDomain(connection.domains, uuid);
      await this.unmark(uuid);
    }
  }

  /** Starts a VM that an earlier run of this service has stopped for a change and not started again. */
  async resume({ uuid, name, metadata }: DomainDescription): Promise<void> {
    const { connection, lock, mark, log } = this.deps;
    if (metadata.owner !== uuid || metadata.restarting !== mark()) return;
    try {
      await lock.run(uuid, async () => {
        const domain = await connection.domains.inspect(uuid);
        if (!domain) return;
        if (!domain.state.isActive) await startDomain(connection.domains, uuid);
        await this.unmark(uuid);
      });
      log.warn({ domain: name }, 'a VM was started whose restart was interrupted');
    } catch (error) {
      log.warn({ domain: name, reason: messageOf(error) }, 'a VM whose restart was interrupted can not be started');
    }
  }

  private unmark(uuid: string): Promise<void> {
    return this.deps.editor.updateMetadata(uuid, ({ restarting: _done, ...metadata }) => metadata);
  }

  private async stop(uuid: string, name: string): Promise<void> {
    const { connection, clock } = this.deps;
    const began = clock.now();
    let pressed = Number.NEGATIVE_INFINITY;
    for (;;) {
      const domain = await connection.domains.inspect(uuid);
      if (!domain) throw new DomainError('INSTANCE_NOT_FOUND', `The domain ${name} no longer exists.`);
      if (!domain.state.isActive) return;
      if (clock.now() - began > SHUTDOWN_TIMEOUT_MS) break;
      if (clock.now() - pressed >= PRESS_INTERVAL_MS) {
        pressed = clock.now();
        // Fails if the guest has just stopped.
        await connection.domains.shutdown(uuid).catch(() => undefined);
      }
      await clock.delay(POLL_MS);
    }
    throw new DomainError(
      'BACKEND_TIMEOUT',
      `${name} did not shut down within ${SHUTDOWN_TIMEOUT_MS / 1000} s and keeps its configuration: shut it down yourself, or use restart=false.`,
    );
  }
}
