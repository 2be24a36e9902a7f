import { DomainError, isVm, isWithinFolder, type AccessScope, type AccessSubject } from '@headgate/domain-contracts';
import type { FleetEntry } from './fleet-entry.js';
import { sortKey } from './sort-key.js';

export type SortField = 'name' | 'namespace' | 'status' | 'cpu' | 'mem' | 'disk' | 'node' | 'createdAt' | 'context';

export interface EntryQuery {
  readonly context?: string;
  /** Only this folder and those in it. */
  readonly folder?: string;
  /** Words that must all occur. */
  readonly words?: readonly string[];
  /** A further condition. */
  readonly matches?: (entry: FleetEntry) => boolean;
  readonly sort?: SortField;
  readonly descending?: boolean;
  readonly limit?: number;
  /** The cursor of the previous page. */
  readonly cursor?: string;
}

export interface EntryPage {
  readonly entries: readonly FleetEntry[];
  /** The cursor of the next page; absent on the last one. */
  readonly cursor?: string;
}

type SortValue = string | number;

const VALUES: Record<SortField, (entry: FleetEntry) => SortValue> = {
  name: ({ instance }) => naturalKey(instance.ref.name),
  namespace: ({ instance }) => instance.ref.namespace,
  context: ({ instance }) => instance.ref.context,
  status: ({ instance }) => (isVm(instance) ? instance.status : instance.phase),
  cpu: ({ instance }) => instance.cpu,
  mem: ({ instance }) => instance.memoryBytes,
  disk: ({ instance }) => (isVm(instance) ? instance.diskBytes : 0),
  node: ({ instance }) => instance.node ?? '',
  createdAt: ({ instance }) => instance.createdAt ?? '',
};

/** The entries that match a query, in its order; one page of them when it has a limit. */
export function queryEntries(all: Iterable<FleetEntry>, query: EntryQuery): EntryPage {
  const words = (query.words ?? []).map((word) => word.toLowerCase());
  let entries = [...all].filter(
    (entry) =>
      (query.context === undefined || entry.instance.ref.context === query.context) &&
      (query.folder === undefined || (entry.folder !== undefined && isWithinFolder(entry.folder, query.folder))) &&
      words.every((word) => searchedText(entry).includes(word)) &&
      (query.matches?.(entry) ?? true),
  );
  const compare = comparison(query.descending ?? false);
  if (query.sort) {
    const positioned = entries.map((entry) => ({ entry, position: positionOf(entry, query.sort) }));
    positioned.sort((a, b) => compare(a.position, b.position));
    entries = positioned.map(({ entry }) => entry);
  }
  if (query.cursor !== undefined) {
    const after = readCursor(query.cursor, query.sort);
    entries = entries.filter((entry) => compare(positionOf(entry, query.sort), after) > 0);
  }
  if (query.limit === undefined || entries.length <= query.limit) return { entries };
  const page = entries.slice(0, query.limit);
  const last = page.at(-1);
  return { entries: page, cursor: last && writeCursor(positionOf(last, query.sort), query.sort) };
}

/** Entries of any order in the order of the list. */
export function inListOrder(entries: Iterable<FleetEntry>): FleetEntry[] {
  const keyed = Array.from(entries, (entry) => ({ entry, key: sortKey(entry.instance.ref) }));
  keyed.sort((one, other) => (one.key < other.key ? -1 : 1));
  return keyed.map(({ entry }) => entry);
}

/** Enough digits for any number in a name. */
const MAX_DIGITS = 12;

/** Sorts in the natural order of the names, as the console does: `web-2` comes before `web-10`. */
const naturalKey = (name: string): string => name.replace(/\d+/g, (digits) => digits.padStart(MAX_DIGITS, '0'));

/** The position of an entry: its sort value, then context, namespace and name, so that every position is unique. */
type SortPosition = readonly [SortValue, string];

const positionOf = (entry: FleetEntry, sort: SortField | undefined): SortPosition => [
  sort ? VALUES[sort](entry) : '',
  sortKey(entry.instance.ref),
];

const comparison =
  (descending: boolean) =>
  (a: SortPosition, b: SortPosition): number => {
    const byValue = a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;
    const byInstanceUid = a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0;
    return (descending ? -byValue : byValue) || byInstanceUid;
  };

const writeCursor = (position: SortPosition, sort: SortField | undefined): string =>
  Buffer.from(JSON.stringify([sort ?? '', ...position])).toString('base64url');

function readCursor(cursor: string, sort: SortField | undefined): SortPosition {
  try {
    const [field, value, ref] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    const valid =
      field === (sort ?? '') && (typeof value === 'string' || typeof value === 'number') && typeof ref === 'string';
    if (valid) return [value, ref];
  } catch {
    // The error below covers every invalid cursor.
  }
  throw new DomainError(
    'INVALID_INPUT',
    'cursor must be the Svc-Cursor of the previous page, requested with the same sort.',
  );
}

/** The text that words are searched in, in lower case. */
export function searchedText(entry: AccessSubject): string {
  const { instance } = entry;
  return [trustedTextOf(entry), isVm(instance) ? (instance.ip ?? '') : ''].join(' ').toLowerCase();
}

/** The searched text without the address, which the guest itself reports. */
function trustedTextOf({ instance, folder = '' }: AccessSubject): string {
  const { ref, node = '', tags } = instance;
  const own = isVm(instance) ? [instance.status] : [instance.phase, instance.image];
  return [ref.name, ref.namespace, ref.context, folder, node, ...own, ...tags].join(' ').toLowerCase();
}

/** The words of the query `q`. */
const wordsOf = (q = ''): string[] => q.split(/\s+/).filter(Boolean);

/**
 * Whether an instance is in the scope of a grant, by the rules of the list. Its address is not searched: a guest must
 * not be able to bring itself into a scope.
 */
export function matchesScope(subject: AccessSubject, { kind, q, context, folder }: AccessScope): boolean {
  const { ref } = subject.instance;
  const text = trustedTextOf(subject);
  return (
    (kind === undefined || ref.kind === kind) &&
    (context === undefined || ref.context === context) &&
    (folder === undefined || (subject.folder !== undefined && isWithinFolder(subject.folder, folder))) &&
    wordsOf(q).every((word) => text.includes(word.toLowerCase()))
  );
}
