import type { StreamEvents } from '@headgate/api-contracts';
import type { JsonSchema } from './json-schema.js';

/** A response of the same path as an event stream, for clients that send `Accept: text/event-stream`. */
export interface StreamDescription {
  readonly description: string;
  /** By the name of the event: the JSON of its data. */
  readonly events: Readonly<Record<string, EventDescription>>;
}

interface EventDescription {
  readonly description: string;
  readonly schema: JsonSchema;
}

const reference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const object = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});
const text: JsonSchema = { type: 'string' };

const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
const count: JsonSchema = { type: 'integer', minimum: 0 };
const usage = object({ ref: text, usage: reference('UsageView') });
const removedEntry: EventDescription = {
  description: 'An entry that is gone, by its ref.',
  schema: object({ ref: text }),
};

const CONTINUED =
  'With the ID of the last event as Last-Event-ID, or as the parameter lastEventId, it continues there without a snapshot.';

/** The stream of a list. @param entry the schema of its elements */
export const listStream = (entry: string): StreamDescription => ({
  description: `With Accept: text/event-stream, a status of each context, the list, and then each change until the client disconnects. ${CONTINUED}`,
  events: {
    status: {
      description: 'Whether a context can be reached, and why not.',
      schema: {
        ...object({ context: text, backend: text, up: { type: 'boolean' } }),
        properties: { context: text, backend: text, up: { type: 'boolean' }, reason: text },
      },
    },
    snapshot: { description: 'The whole list.', schema: { type: 'array', items: reference(entry) } },
    changed: { description: 'A new entry, or the new state of one.', schema: reference(entry) },
    removed: removedEntry,
  },
});

/** The stream of a task. */
export const taskStream: StreamDescription = {
  description: `With Accept: text/event-stream, the task, and then each change until it ends. ${CONTINUED}`,
  events: {
    snapshot: {
      description: 'The whole task, and the offset after its log in UTF-16 code units.',
      schema: { allOf: [reference('TaskView'), object({ logOffset: { type: 'integer' } })] },
    },
    changed: { description: 'The task without its log and its members.', schema: { type: 'object' } },
    log: {
      description: 'New lines of the log. A larger offset than the end of the last text means that lines were cut.',
      schema: object({ offset: { type: 'integer' }, text }),
    },
    members: {
      description: 'The members of a bulk task that changed.',
      schema: { type: 'array', items: reference('TaskMemberView') },
    },
  },
};

/** The stream of a page. */
const topicEvents: Readonly<Record<keyof StreamEvents, EventDescription>> = {
  'vms.snapshot': { description: 'The list of VMs.', schema: list(reference('VmView')) },
  'vms.changed': { description: 'A new VM, or the new state of one.', schema: reference('VmView') },
  'vms.removed': removedEntry,
  'cts.snapshot': { description: 'The list of containers.', schema: list(reference('ContainerView')) },
  'cts.changed': { description: 'A new container, or the new state of one.', schema: reference('ContainerView') },
  'cts.removed': removedEntry,
  'usage.snapshot': {
    description: 'The usage of all measured instances, as the lists have it with usage=only.',
    schema: list(usage),
  },
  'usage.changed': {
    description: 'All usages of one context, after each reading.',
    schema: object({ context: text, usages: list(usage) }),
  },
  'tasks.snapshot': { description: 'The list of tasks.', schema: list(reference('TaskView')) },
  'tasks.changed': {
    description: 'A task that was created or changed, without its log and its members.',
    schema: reference('TaskView'),
  },
  'tasks.removed': { description: 'A task that the caller may no longer read.', schema: object({ id: text }) },
  'folders.snapshot': {
    description: 'The folders without their members, whenever they or their numbers of members change.',
    schema: reference('FoldersView'),
  },
  'contexts.status': {
    description: 'Whether a context can be reached, and why not.',
    schema: {
      ...object({ context: text, backend: text, up: { type: 'boolean' } }),
      properties: { context: text, backend: text, up: { type: 'boolean' }, reason: text },
    },
  },
  'contexts.snapshot': {
    description: 'The capabilities of all contexts, whenever they change.',
    schema: reference('CapabilitiesView'),
  },
  'activity.snapshot': {
    description: 'The number of actions of the last 24 hours, at most a second after an entry of the journal.',
    schema: reference('ActivityView'),
  },
  'health.snapshot': {
    description: 'The number of checks by their result, whenever it changes.',
    schema: object({ ok: count, warning: count, error: count }),
  },
  ready: {
    description: 'The snapshots are complete, except for values that have to be read first.',
    schema: { type: 'object' },
  },
  resumed: {
    description: 'Instead of the snapshots: the changes since the given position follow.',
    schema: { type: 'object' },
  },
  beat: {
    description: 'Every 15 seconds, because a page does not see the comments of a stream.',
    schema: { type: 'object' },
  },
};

export const topicStream: StreamDescription = {
  description: `With Accept: text/event-stream, a snapshot of each topic, and then each change until the client disconnects. ${CONTINUED} For a caller who may not read everything, it always begins with snapshots.`,
  events: topicEvents,
};

/** The stream of the journal. */
export const journalStream: StreamDescription = {
  description:
    'With Accept: text/event-stream, each entry from now on. With the number of an entry as Last-Event-ID, or as the parameter lastEventId, the entries behind it first. A client that reads nothing for a minute is disconnected.',
  events: {
    ready: { description: 'The newest entry of the chain: new entries follow.', schema: reference('JournalHeadView') },
    resumed: { description: 'The entries behind the given one follow.', schema: { type: 'object' } },
    entry: { description: 'An entry, whose ID is its number.', schema: reference('JournalEntryView') },
    gap: {
      description: 'Entries up to this number were deleted before the client got them.',
      schema: object({ after: count, through: count }),
    },
    beat: topicEvents.beat,
  },
};
