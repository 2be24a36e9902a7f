import { messageOf, type InstanceRef } from '@headgate/domain-contracts';
import type { InstanceObject } from '../api/incus-objects.js';
import { refOf, uidOf } from '../engine/api-names.js';
import { KEY } from '../engine/config-keys.js';
import { configureInstance, type ConfigChange } from '../engine/configure-instance.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { isStopped, startContainer, stopContainer } from '../power/start-and-stop.js';

/** Stops and starts containers for limits that they can't get while they run. */
export class Restarts {
  /** The UIDs of the containers that this process restarts. */
  private readonly underWay = new Set<string>();

  constructor(private readonly engine: Pick<IncusEngine, 'api' | 'finder' | 'context' | 'log'>) {}

  /**
   * Stops a container, changes its configuration and starts it. If it does not start, it gets its former configuration
   * back and is started with that. It is marked meanwhile, so that it is started after all if this process or the
   * server ends in between.
   */
  async run(ref: InstanceRef, instance: InstanceObject, change: ConfigChange): Promise<void> {
    const uid = uidOf(instance);
    const configure = (keys: ConfigChange): Promise<void> => configureInstance(this.engine, ref, instance, keys);
    this.underWay.add(uid);
    try {
      await configure({ [KEY.restarting]: 'true' });
      await stopContainer(this.engine.api, instance);
      try {
        await configure(change);
        await this.start(ref);
      } catch (error) {
        await configure(Object.fromEntries(Object.keys(change).map((key) => [key, instance.config[key]])));
        await this.start(ref);
        throw error;
      } finally {
        await configure({ [KEY.restarting]: undefined });
      }
    } finally {
      this.underWay.delete(uid);
    }
  }

  /**
   * Starts the containers that were stopped for a change and not started again. Never fails.
   * @param listed may be old: each one is read again before it is started
   */
  async resume(listed: readonly InstanceObject[]): Promise<void> {
    for (const instance of listed) if (this.isInterrupted(instance)) await this.complete(instance);
  }

  private async complete(listed: InstanceObject): Promise<void> {
    const { api, context, finder, log } = this.engine;
    const { name } = listed;
    try {
      const instance = await finder.read(listed);
      // Its restart has ended since, and it may have been stopped by a user afterwards.
      if (!instance || uidOf(instance) !== uidOf(listed) || !this.isInterrupted(instance)) return;
      if (isStopped(instance)) await startContainer(api, instance);
      await configureInstance(this.engine, refOf(context, instance), instance, { [KEY.restarting]: undefined });
      log.warn({ container: name }, 'a container was started whose restart was interrupted');
    } catch (error) {
      const fields = { container: name, reason: messageOf(error) };
      log.warn(fields, 'a container whose restart was interrupted can not be started');
    }
  }

  private isInterrupted(instance: InstanceObject): boolean {
    return instance.config[KEY.restarting] !== undefined && !this.underWay.has(uidOf(instance));
  }

  private async start(ref: InstanceRef): Promise<void> {
    await startContainer(this.engine.api, await this.engine.finder.find(ref));
  }
}
