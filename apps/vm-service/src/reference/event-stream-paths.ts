import type { JsonSchema } from './json-schema.js';

/** A response of the same path as an event stream, for clients that send `Accept: text/event-stream`. */
export interface StreamDescription {
  readonly description: string;
  /** By the name of the event: the JSON of its data. */
  readonly events: Readonly<Record<string, { readonly description: string; readonly schema: JsonSchema }>>;
}

const reference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const object = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});
const text: JsonSchema = { type: 'string' };

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
    removed: { description: 'An entry that is gone, by its ref.', schema: object({ ref: text }) },
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
