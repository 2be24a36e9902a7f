import { BackendDirectory, Clock, type OpenedBackend } from '@headgate/domain-contracts';
import { Fleet } from '@headgate/fleet';
import { MetricsSampler } from '@headgate/metrics';
import { AddedContexts, type ParsedContext } from './added-contexts.js';
import { Backends } from './backends.js';

/** How long a new context may take until it is listed; afterwards it goes on in the background. */
const LIST_TIMEOUT_MS = 5000;

export interface LiveContextsDeps {
  readonly added: AddedContexts;
  readonly backends: Backends;
  readonly directory: BackendDirectory;
  readonly fleet: Fleet;
  readonly sampler: MetricsSampler;
  readonly clock: Clock;
}

export interface LiveReplacement {
  undo(): void;
  /** @param isAnother whether the backend leads to another engine than the former one */
  replace(opened: OpenedBackend, isAnother: boolean): Promise<void>;
}

/** Adds contexts to the fleet, replaces and removes them, while the service runs. */
export class LiveContexts {
  constructor(private readonly deps: LiveContextsDeps) {
    const { added, fleet } = deps;
    fleet.subscribe((event) => {
      if (event.type !== 'status' || event.state.state !== 'up' || added.isChanging(event.state.context)) return;
      void added.forgetUsedSecrets(event.state.context);
    });
  }

  /**
   * Opens a context, if it is not open yet.
   * @returns when its instances are listed, or the context is lost, or after a while
   */
  async attach(context: ParsedContext, unused?: OpenedBackend): Promise<void> {
    const { added, backends, directory, fleet, sampler } = this.deps;
    const { name } = context;
    if (unused) await added.use(name, unused)();
    const { backend } = unused ?? (await added.open(context));
    try {
      backends.add(backend);
      const listed = this.whenListed(name);
      fleet.attach(backend);
      sampler.attach(directory.get(name));
      await listed;
    } catch (error) {
      backends.remove(name);
      await this.detach(name);
      throw error;
    }
    await this.forgetUsedSecrets(name);
  }

  /**
   * No request finds the context from now on.
   * @returns undoes it, as long as the context was not detached
   */
  hide(name: string): () => void {
    const show = this.deps.backends.takeOut(name);
    return () => show();
  }

  /**
   * Hides a context until another backend takes its place.
   * @returns `undo`, or `replace`, which ends when the new backend has listed, or is lost, or after a while
   */
  beginReplacement(name: string): LiveReplacement {
    const show = this.deps.backends.takeOut(name);
    return {
      undo: () => show(),
      replace: async (opened, isAnother) => {
        const { added, directory, fleet, sampler } = this.deps;
        show(opened.backend);
        const whenStopped = added.use(name, opened);
        const listed = this.whenListed(name);
        const replaced = fleet.replace(opened.backend, { isAnother, whenStopped });
        sampler.replace(directory.get(name));
        await replaced;
        await listed;
        await this.forgetUsedSecrets(name);
      },
    };
  }

  /** Removes the instances of a hidden context from the fleet, and closes it. */
  async detach(name: string): Promise<void> {
    const { added, fleet, sampler } = this.deps;
    sampler.detach(name);
    await fleet.detach(name);
    await added.close(name);
  }

  private async forgetUsedSecrets(name: string): Promise<void> {
    const { added, fleet } = this.deps;
    if (fleet.states().some(({ context, state }) => context === name && state === 'up')) {
      await added.forgetUsedSecrets(name);
    }
  }

  private whenListed(name: string): Promise<void> {
    const { fleet, clock } = this.deps;
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        unsubscribe();
        resolve();
      };
      const cancel = clock.after(LIST_TIMEOUT_MS, end);
      const unsubscribe = fleet.subscribe((event) => {
        if (event.type !== 'status' || event.state.context !== name || event.isReplaced) return;
        if (event.state.state !== 'connecting') end();
      });
    });
  }
}
