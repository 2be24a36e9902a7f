/** The fields with texts, each with one value, several or none. */
export const TEXT_FIELDS = [
  'name',
  'ns',
  'kind',
  'status',
  'context',
  'backend',
  'node',
  'folder',
  'tag',
  'ip',
  'image',
  'os',
  'reason',
] as const;
export type TextField = (typeof TEXT_FIELDS)[number];

/** The fields with amounts: CPUs, bytes, bytes, settings that wait, and twice milliseconds since the epoch. */
export const AMOUNT_FIELDS = ['cpu', 'mem', 'disk', 'pending', 'created', 'started'] as const;
export type AmountField = (typeof AMOUNT_FIELDS)[number];

/** The names after `is:` and `not:`. */
export const FLAGS = [
  'agent',
  'busy',
  'migratable',
  'privileged',
  'protected',
  'ready',
  'restart-required',
  'running',
  'stale',
  'template',
  'volatile',
] as const;
export type Flag = (typeof FLAGS)[number];

const ALIASES = {
  namespace: 'ns',
  phase: 'status',
  ctx: 'context',
  tags: 'tag',
  memory: 'mem',
  pendingcount: 'pending',
  createdat: 'created',
  startedat: 'started',
} as const satisfies Record<string, TextField | AmountField>;

// Maps, because `constructor` and `__proto__` are keys of every object.
const texts = new Map<string, TextField>(TEXT_FIELDS.map((field) => [field, field]));
const amounts = new Map<string, AmountField>(AMOUNT_FIELDS.map((field) => [field, field]));
const flags = new Map<string, Flag>(FLAGS.map((flag) => [flag, flag]));
const aliases = new Map<string, string>(Object.entries(ALIASES));

const nameOf = (written: string): string => {
  const name = written.toLowerCase();
  return aliases.get(name) ?? name;
};

export const textField = (written: string): TextField | undefined => texts.get(nameOf(written));
export const amountField = (written: string): AmountField | undefined => amounts.get(nameOf(written));
export const flagOf = (written: string): Flag | undefined => flags.get(written.toLowerCase());

/** The names that a message lists. */
export const KNOWN_FIELDS = ['is', 'not', ...TEXT_FIELDS, ...AMOUNT_FIELDS].join(', ');
export const KNOWN_FLAGS = FLAGS.join(', ');
