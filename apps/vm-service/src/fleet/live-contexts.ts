import { BackendDirectory, Clock } from '@headgate/domain-contracts';
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

/** Adds contexts to the fleet, and removes them, while the service runs. */
export class LiveContexts {
  constructor(private readonly deps: LiveContextsDeps) {}

  /** Opens a context. @returns when its instances are listed, or the context is lost, or after a while */
  async attach(context: ParsedContext): Promise<void> {
    const { added, backends, directory, fleet, sampler } = this.deps;
    const { name } = context;
    const { backend } = await added.open(context);
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
  }

  /** No request finds the context from now on. @returns undoes it, as long as the context was not detached */
  hide(name: string): () => void {
    const { backends } = this.deps;
    const backend = backends.find(name);
    backends.remove(name);
    return () => void (backend && backends.add(backend));
  }

  /** Removes the instances of a hidden context from the fleet, and closes it. */
  async detach(name: string): Promise<void> {
    const { added, fleet, sampler } = this.deps;
    sampler.detach(name);
    await fleet.detach(name);
    await added.close(name);
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
        if (event.type === 'status' && event.state.context === name && event.state.state !== 'connecting') end();
      });
    });
  }
}
