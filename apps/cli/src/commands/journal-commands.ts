import { createReadStream } from 'node:fs';
import { once } from 'node:events';
import type { JournalEntryView } from '@headgate/api-contracts';
import { InvalidArgumentError, Option } from 'commander';
import { ClientError } from '../client/client-error.js';
import { followEvents } from '../client/event-stream.js';
import { networkFailure } from '../client/network-failure.js';
import { EXIT_CODES } from '../exit-codes.js';
import { verifyExport } from '../journal/verify-export.js';
import type { Session } from '../session.js';
import type { Presentation } from '../terminal/output.js';
import { escapeInJson, printable } from '../terminal/printable.js';
import { interruption } from '../terminal/prompt.js';
import type { AddCommands } from './command-context.js';
import { parseCount } from './parse-option.js';

interface Filters {
  readonly caller?: string;
  readonly token?: string;
  readonly object?: string;
  readonly action?: string;
  readonly outcome?: JournalEntryView['outcome'];
}

interface Flags extends Filters {
  readonly follow?: boolean;
  readonly tail: number;
  readonly since?: string;
  readonly until?: string;
}

const MAX_TAIL = 1000;
const ENTRIES: Presentation<JournalEntryView> = {
  nameOf: ({ number }) => String(number),
  ifEmpty: 'No entry matches.',
  columns: [
    { title: 'TIME', of: ({ time }) => time },
    { title: 'CALLER', of: ({ caller, token }) => (token === '' ? caller || '-' : `${caller} (token ${token})`) },
    { title: 'ACTION', of: ({ action }) => action },
    { title: 'OBJECT', of: ({ ref }) => ref || '-' },
    { title: 'OUTCOME', of: ({ outcome, code }) => `${outcome} ${code}`.trim() },
    { title: 'MESSAGE', of: ({ message }) => message },
    { title: 'FROM', of: ({ address }) => address, isWide: true },
    { title: 'NUMBER', of: ({ number }) => number, isWide: true },
  ],
};

const parseTail = (value: string): number => {
  const count = parseCount(value);
  if (count > MAX_TAIL) throw new InvalidArgumentError(`It must be at most ${MAX_TAIL}.`);
  return count;
};

const parseHash = (value: string): string => {
  if (!/^[0-9a-f]{64}$/.test(value)) throw new InvalidArgumentError('It must be a hash of 64 digits from 0 to f.');
  return value;
};

const parseNumber = (value: string): string => {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError('It must be the number of an entry.');
  return value;
};

/** journal. */
export const addJournalCommands: AddCommands = (program, act) => {
  const journal = program
    .command('journal')
    .summary('show who did what, follow it, export it, or check an export')
    .description(
      'Shows the last entries of the journal, the oldest first; for administrators. With -f, follows it over any interruption; -o json prints one object per line then.',
    )
    .option('-f, --follow', 'continue with new entries until Ctrl-C')
    .option('--tail <entries>', 'so many of the last entries, at most 1000', parseTail, 20)
    .option('--caller <login>', 'only those of this user')
    .option('--token <id>', 'only those with this API token')
    .option('--object <ref>', 'only those about this object, such as vm/lab/default/web')
    .option('--action <text>', 'only actions that contain this text')
    .addOption(new Option('--outcome <outcome>', 'only those with this outcome').choices(['ok', 'error', 'denied']))
    .option('--since <time>', 'only from this time on, in ISO 8601')
    .option('--until <time>', 'only before this time')
    .action(act(showJournal));
  journal
    .command('export')
    .summary('write the journal as JSON lines')
    .description('Writes the journal to standard output as JSON lines with its chain of hashes, for journal verify.')
    .option('--after <number>', 'only entries after this one, to continue an export', parseNumber)
    .action(act(exportJournal));
  journal
    .command('verify')
    .summary('check an export of the journal')
    .description(
      'Checks the chain of hashes of an export, or of several that continue each other. Needs no service. The exit code is 1 if an entry was changed, removed, inserted or reordered.',
    )
    .argument('[file]', 'the export; standard input without it, or for -')
    .option('--head <hash>', 'the export has to have this entry, whose hash was kept elsewhere', parseHash)
    .action(act(verify));
  journal
    .command('head')
    .summary('show the hash of the newest entry')
    .description('Shows the hash of the newest entry. Keep it elsewhere: later, journal verify --head finds it again.')
    .action(act(showHead));
};

async function showJournal(session: Session, { follow, tail, since, until, ...filters }: Flags): Promise<void> {
  const { output } = session;
  if (follow && (output.format === 'yaml' || output.format === 'name'))
    throw ClientError.usage('journal -f prints a table or, with -o json, one JSON object per line.');
  if (follow && until !== undefined) throw ClientError.usage('journal -f has no end: leave out --until.');
  const api = await session.api();
  const { object: ref, ...others } = filters;
  const query = { ...others, ref, since, until, limit: tail };
  const entries = await api.get('/api/ext/journal', { query: withoutAbsent(query) });
  const oldestFirst = entries.toReversed();
  if (!follow) return output.list(oldestFirst, ENTRIES);
  for (const entry of oldestFirst) printEntry(session, entry);
  // Without an entry that matches, the newest one of all.
  const last = entries[0]?.number ?? (await api.get('/api/ext/journal', { query: { limit: 1 } }))[0]?.number ?? 0;
  await followJournal(session, last, filters);
}

async function followJournal(session: Session, last: number, filters: Filters): Promise<void> {
  const { output, environment } = session;
  const events = followEvents((await session.api()).http, '/api/ext/journal/stream', {
    query: { lastEventId: last },
    signal: environment.interrupted,
    onLost: ({ message }, seconds) => output.note(`${message} Trying again in ${seconds} s.`),
  });
  for await (const { event, data } of events) {
    if (event === 'gap') {
      const { through } = JSON.parse(data) as { through: number };
      output.note(`Entries up to ${through} were deleted before they could be shown.`);
    }
    if (event !== 'entry') continue;
    const entry = JSON.parse(data) as JournalEntryView;
    if (matches(entry, filters)) printEntry(session, entry);
  }
  throw interruption();
}

/** As the service compares them. */
const matches = (entry: JournalEntryView, { caller, token, object, action, outcome }: Filters): boolean =>
  (caller === undefined || entry.caller === caller) &&
  (token === undefined || entry.token === token) &&
  (object === undefined || entry.ref === object) &&
  (outcome === undefined || entry.outcome === outcome) &&
  (action === undefined || entry.action.toLowerCase().includes(action.toLowerCase()));

function printEntry({ output }: Session, entry: JournalEntryView): void {
  if (output.format === 'json') return output.write(`${escapeInJson(JSON.stringify(entry))}\n`);
  const { time, caller, token, action, ref, outcome, code, message } = entry;
  const who = token === '' ? caller || '-' : `${caller} (token ${token})`;
  const end = [outcome, code].filter(Boolean).join(' ');
  output.write(`${printable([time, who, action, ref || '-', end, message].filter(Boolean).join('  '))}\n`);
}

async function exportJournal(session: Session, { after }: { readonly after?: string }): Promise<void> {
  const api = await session.api();
  const { environment } = session;
  const answer = await api.http.open('GET', '/api/ext/journal/export', {
    headers: { accept: 'application/x-ndjson, application/json;q=0.5' },
    query: { after },
    signal: environment.interrupted,
  });
  const decoder = new TextDecoder();
  try {
    for await (const part of answer) {
      // Only a terminal acts on the characters; the escapes of a file have to be those that were hashed.
      const bytes = environment.stdout.isTTY
        ? escapeInJson(decoder.decode(part as Buffer, { stream: true }))
        : (part as Buffer);
      if (!environment.stdout.write(bytes)) await once(environment.stdout, 'drain');
    }
  } catch (error) {
    if (environment.interrupted.aborted) throw interruption();
    throw networkFailure(error, api.http.access.url);
  }
}

async function verify(session: Session, file: string | undefined, { head }: { readonly head?: string }): Promise<void> {
  const { output, environment } = session;
  const isFile = file !== undefined && file !== '-';
  try {
    const result = await verifyExport(isFile ? createReadStream(file) : environment.stdin, head);
    const { entries, unchained, first } = result;
    const range = first === undefined ? '' : `, ${first} through ${result.head.number}`;
    const older =
      unchained === 0
        ? ''
        : `${unchained} older entries have no hash, as they were recorded before there was a chain.\n`;
    await output.value(
      result,
      () => `OK: ${entries} entries${range}.\nHead: ${result.head.number} ${result.head.hash}\n${older}`,
      result.head.hash,
    );
  } catch (error) {
    if (!isFile || !isFileError(error)) throw error;
    throw new ClientError('FILE_UNREADABLE', `${file} can't be read: ${error.message}.`, EXIT_CODES.usage);
  }
}

const isFileError = (error: unknown): error is NodeJS.ErrnoException =>
  typeof error === 'object' && error !== null && 'syscall' in error;

async function showHead(session: Session): Promise<void> {
  const head = await (await session.api()).get('/api/ext/journal/head');
  await session.output.value(head, () => `${head.number} ${head.hash}\n`, head.hash);
}

const withoutAbsent = <T extends object>(query: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as never;
