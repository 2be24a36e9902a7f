import { visibleInstances } from '@headgate/access';
import type { FoldersView } from '@headgate/api-contracts';
import {
  ADMINISTRATOR,
  DomainError,
  type Caller,
  type Clock,
  type FolderDirectory,
  type Log,
} from '@headgate/domain-contracts';
import type { FleetReader } from '@headgate/fleet';
import type { ReadFolders } from '../../folders/read-folders.js';
import { PolledValue } from './polled-value.js';
import { soonAfter } from '../../platform/soon-after.js';
import { Topic, type FollowedTopic, type TopicChange } from './topic.js';
import { eventText } from '../../platform/event-text.js';

/** How long changes of instances may wait until the members are counted again, which reads all instances. */
const COUNT_INTERVAL_MS = 1_000;

export interface FoldersTopicDeps {
  readonly read: Pick<ReadFolders, 'read'>;
  readonly folders: Pick<FolderDirectory, 'subscribe'>;
  readonly fleet: Pick<FleetReader, 'subscribe'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The folders with the numbers of their members: `snapshot` whenever they are different. */
export class FoldersTopic extends Topic {
  override readonly name = 'folders';
  override readonly need = visibleInstances;
  override readonly isCostly = true;

  constructor(private readonly deps: FoldersTopicDeps) {
    super();
  }

  override follow(reader: Caller | undefined, publish: (change: TopicChange) => void): FollowedTopic {
    const { clock, log } = this.deps;
    const read = (): Promise<FoldersView> => this.deps.read.read({ summary: true }, reader?.grant ?? ADMINISTRATOR);
    const value = new PolledValue({ read, clock, log, watch: (changed) => this.watch(changed) });
    const close = value.subscribe((folders) =>
      publish({ topic: this.name, key: 'all', event: 'snapshot', data: () => folders }),
    );
    return { snapshot: () => this.snapshot(read), close };
  }

  /** Without any reachable context, there is none, as in the route. */
  private async snapshot(read: () => Promise<FoldersView>): Promise<readonly Buffer[]> {
    try {
      return [Buffer.from(eventText('folders.snapshot', await read()))];
    } catch (error) {
      if (DomainError.is(error, 'BACKEND_UNREACHABLE')) return [];
      throw error;
    }
  }

  private watch(changed: () => void): () => void {
    const { folders, fleet, clock } = this.deps;
    const watchFleet = soonAfter(clock, COUNT_INTERVAL_MS, (event) => fleet.subscribe(event));
    const stops = [folders.subscribe(changed), watchFleet(changed)];
    return () => stops.forEach((stop) => stop());
  }
}
