import { Inject, Injectable } from '@nestjs/common';
import { everything, expectAllowed, may } from '@headgate/access';
import { STREAM_TOPICS, type CheckView, type StreamHealthView, type StreamTopic } from '@headgate/api-contracts';
import { Audit, Clock, DomainError, FolderDirectory, type Grant, type Log } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import { MetricsSampler } from '@headgate/metrics';
import { TaskReader } from '@headgate/tasks';
import { ReadCapabilities } from '../../cluster/read-capabilities.js';
import { ReadChecks } from '../../doctor/read-checks.js';
import { ReadFolders } from '../../folders/read-folders.js';
import { ReadActivity } from '../../journal/read-activity.js';
import { LOGGER } from '../../platform/tokens.js';
import { ContextsTopic } from './contexts-topic.js';
import { EntriesTopic } from './entries-topic.js';
import { FoldersTopic } from './folders-topic.js';
import { PolledTopic } from './polled-topic.js';
import { PolledValue } from './polled-value.js';
import { soonAfter } from '../../platform/soon-after.js';
import { TasksTopic } from './tasks-topic.js';
import type { Topic } from './topic.js';
import { UsageTopic } from './usage-topic.js';

/** Capabilities change with the images of the catalog, with plugins and with storage classes, which report nothing. */
const CAPABILITIES_INTERVAL_MS = 10_000;
/** Checks ask every backend and plugin. */
const CHECKS_INTERVAL_MS = 60_000;

/** How long entries of the journal may wait until they are counted. */
const ACTIVITY_INTERVAL_MS = 1_000;

/** All topics, and which of them a caller gets. */
@Injectable()
export class Topics {
  private readonly byName: ReadonlyMap<StreamTopic, Topic>;

  constructor(
    fleet: FleetReader,
    metrics: MetricsSampler,
    tasks: TaskReader,
    readFolders: ReadFolders,
    folders: FolderDirectory,
    capabilities: ReadCapabilities,
    checks: ReadChecks,
    activity: ReadActivity,
    audit: Audit,
    clock: Clock,
    @Inject(LOGGER) log: Log,
  ) {
    const polled = <T extends object>(read: () => Promise<T>, intervalMs: number): PolledValue<T> =>
      new PolledValue({ read, clock, log, intervalMs, watch: (changed) => onStatus(fleet, changed) });
    const all: readonly Topic[] = [
      new EntriesTopic(fleet, 'vm'),
      new EntriesTopic(fleet, 'ct'),
      new UsageTopic(fleet, metrics),
      new TasksTopic(tasks, fleet),
      new FoldersTopic({ read: readFolders, folders, fleet, clock, log }),
      new ContextsTopic(
        fleet,
        polled(() => capabilities.read(), CAPABILITIES_INTERVAL_MS),
      ),
      new PolledTopic(
        'health',
        everything('read'),
        polled(async () => countsOf(await checks.read()), CHECKS_INTERVAL_MS),
      ),
      new PolledTopic(
        'activity',
        everything('read'),
        new PolledValue({
          read: async () => activity.read('24h'),
          clock,
          log,
          watch: soonAfter(clock, ACTIVITY_INTERVAL_MS, (recorded) => audit.subscribe(recorded)),
        }),
      ),
    ];
    this.byName = new Map(all.map((topic) => [topic.name, topic]));
  }

  get(name: StreamTopic): Topic {
    const topic = this.byName.get(name);
    if (!topic) throw new Error(`there is no topic ${name}`);
    return topic;
  }

  /**
   * The topics of a request.
   * @param text names with commas; without it, all that the caller may read
   * @throws DomainError INVALID_INPUT, NOT_PERMITTED
   */
  of(text: string | undefined, grant: Grant): readonly StreamTopic[] {
    if (text === undefined) return STREAM_TOPICS.filter((name) => may(grant, this.get(name).need));
    const names = new Set(text.split(','));
    const unknown = [...names].find((name) => !this.byName.has(name as StreamTopic));
    if (unknown !== undefined) {
      const message = `topics: "${unknown}" is no topic; the topics are ${STREAM_TOPICS.join(', ')}.`;
      throw new DomainError('INVALID_INPUT', message);
    }
    const wanted = STREAM_TOPICS.filter((name) => names.has(name));
    for (const name of wanted) expectAllowed(grant, this.get(name).need);
    return wanted;
  }
}

function onStatus(fleet: FleetReader, changed: () => void): () => void {
  return fleet.subscribe(({ type }) => {
    if (type === 'status') changed();
  });
}

function countsOf(checks: readonly CheckView[]): StreamHealthView {
  const count = (status: CheckView['status']): number => checks.filter((check) => check.status === status).length;
  return { ok: count('ok'), warning: count('warning'), error: count('error') };
}
