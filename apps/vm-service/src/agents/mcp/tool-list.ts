import { AGENT_ACTIONS, HARDWARE_CHANGE_FIELDS } from '@headgate/api-contracts';

const TEXT = { type: 'string' } as const;
const REF = { type: 'string', description: 'vm/<context>/<namespace>/<name>, or ct/… for a container' } as const;

const object = (properties: Record<string, object>, required: readonly string[] = []) => ({
  type: 'object' as const,
  properties,
  required: [...required],
  additionalProperties: false,
});

const QUERY = object({
  kind: { type: 'string', enum: ['vm', 'ct'], description: 'VMs, the default, or containers' },
  q: { type: 'string', description: 'A query such as: web status:running tag:db folder:prod' },
  context: TEXT,
  folder: { type: 'string', description: 'This folder and those in it' },
});
const READ = { readOnlyHint: true, openWorldHint: false };

/**
 * The tools. Their names and descriptions are constants: no text of a user, a guest or a backend is ever a part of
 * them, because a model trusts them.
 */
export const TOOLS = [
  {
    name: 'list_instances',
    description: 'Lists VMs or containers that match a query. Pages continue with cursor.',
    inputSchema: object({
      ...QUERY.properties,
      limit: { type: 'integer', minimum: 1, maximum: 200, description: '50 by default' },
      cursor: TEXT,
    }),
    annotations: READ,
  },
  {
    name: 'get_instance',
    description: 'Returns one VM or container.',
    inputSchema: object({ ref: REF }, ['ref']),
    annotations: READ,
  },
  {
    name: 'get_task',
    description: 'Returns a task with its log: the work that continues after a commit.',
    inputSchema: object({ id: TEXT }, ['id']),
    annotations: READ,
  },
  {
    name: 'read_journal',
    description: 'Lists the last 50 actions on an instance: who did what, with which outcome.',
    inputSchema: object({ ref: REF }, ['ref']),
    annotations: READ,
  },
  {
    name: 'get_health',
    description: 'Returns whether each context can be reached.',
    inputSchema: object({}),
    annotations: READ,
  },
  {
    name: 'get_capabilities',
    description: 'Returns what each context can do, with a reason for each missing ability.',
    inputSchema: object({}),
    annotations: READ,
  },
  {
    name: 'get_leash',
    description: 'Returns the limits of this agent, and how many instances it may still change in this hour.',
    inputSchema: object({}),
    annotations: READ,
  },
  {
    name: 'rehearse',
    description:
      'Plans a change and changes nothing. Returns the plan with an id and a hash for commit, valid for 5 minutes. Without a hash, the change is refused. Set exactly one of refs and query.',
    inputSchema: object(
      {
        action: { type: 'string', enum: [...AGENT_ACTIONS] },
        refs: { type: 'array', items: REF, minItems: 1, maxItems: 1000 },
        query: QUERY,
        force: { type: 'boolean', description: 'Only with stop: powers off instead of asking the guest' },
        tag: { type: 'string', description: 'With tag and untag' },
        folder: { type: 'string', description: 'With folder: the path that the instances are put into' },
        snapshot: {
          type: 'string',
          description: 'With restore-snapshot and delete-snapshot, and optionally with snapshot of one instance',
        },
        changes: {
          type: 'array',
          minItems: 1,
          maxItems: 20,
          description: 'With hardware: changes of one instance, each with a kind and the fields of that kind',
          items: {
            type: 'object',
            properties: { kind: { type: 'string', enum: Object.keys(HARDWARE_CHANGE_FIELDS) } },
            required: ['kind'],
          },
        },
        restart: { type: 'boolean', description: 'With hardware: restarts the guest where a change needs it' },
        twin: {
          type: 'boolean',
          description:
            'Also carries the change out in a simulation of its cluster, and returns what happened there as twin. Takes up to a minute. Only for one context with KubeVirt',
        },
      },
      ['action'],
    ),
    annotations: READ,
  },
  {
    name: 'commit',
    description:
      'Carries out a rehearsed change, once, if a fresh plan is still the rehearsed one. It may wait until a user approves it. The reason is recorded in the journal.',
    inputSchema: object(
      { id: TEXT, hash: TEXT, reason: { type: 'string', maxLength: 300, description: 'Why, in your own words' } },
      ['id', 'hash', 'reason'],
    ),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  },
  {
    name: 'get_commit',
    description: 'Returns the state of a rehearsal that was committed: waiting, running, done, failed or rejected.',
    inputSchema: object({ id: TEXT }, ['id']),
    annotations: READ,
  },
];
