import type { InstanceEventView } from '@headgate/api-contracts';
import { followEvents } from '../client/event-stream.js';
import { ClientError } from '../client/client-error.js';
import { findAddress, findInstance } from '../instances/find-instance.js';
import { KnownStates, type StreamEntry } from '../events/known-states.js';
import { ctExtension, vmPath, type InstanceKind } from '../instances/instance.js';
import type { Session } from '../session.js';
import { interruption } from '../terminal/prompt.js';
import { escapeInJson, printable } from '../terminal/printable.js';
import type { AddCommands } from './command-context.js';
import { kindOption } from './read-commands.js';

interface Flags {
  readonly follow?: boolean;
  readonly kind?: InstanceKind;
}

/** events. */
export const addEventCommands: AddCommands = (program, act) => {
  program
    .command('events')
    .summary('show the events of an instance, or follow all changes')
    .description(
      'Shows the last 50 events of an instance. With -f, follows the changes of all instances and tasks, or of one instance, over any interruption; -o json prints one object per line.',
    )
    .argument('[instance]')
    .addOption(kindOption())
    .option('-f, --follow', 'follow the changes until Ctrl-C')
    .action(
      act(async (session: Session, instance: string | undefined, flags: Flags) => {
        if (flags.follow) return follow(session, instance, flags);
        if (instance === undefined) throw ClientError.usage('Name an instance, or follow all changes with -f.');
        return show(session, instance, flags);
      }),
    );
};

async function show(session: Session, name: string, { kind }: Flags): Promise<void> {
  const api = await session.api();
  const address = await findAddress(api, name, kind);
  const { context } = address;
  const events: InstanceEventView[] =
    address.kind === 'vm'
      ? await api.get(`${vmPath(address)}/events`, { query: { context } })
      : await api.get(`${ctExtension(address)}/events`, { query: { context } });
  await session.output.list(events, {
    nameOf: ({ reason }) => reason,
    ifEmpty: 'There are no events.',
    columns: [
      { title: 'TIME', of: ({ time }) => time },
      { title: 'TYPE', of: ({ type }) => type },
      { title: 'REASON', of: ({ reason }) => reason },
      { title: 'SOURCE', of: ({ source }) => source, isWide: true },
      { title: 'MESSAGE', of: ({ message }) => message },
    ],
  });
}

async function follow(session: Session, name: string | undefined, { kind }: Flags): Promise<void> {
  const { output, environment } = session;
  if (output.format === 'yaml' || output.format === 'name')
    throw ClientError.usage('events -f prints a table or, with -o json, one JSON object per line.');
  const api = await session.api();
  const ref = name === undefined ? undefined : (await findInstance(api, name, kind)).ref;
  const states = new KnownStates();
  const events = followEvents(api.http, '/api/ext/stream', {
    query: { topics: 'vms,cts,tasks' },
    signal: environment.interrupted,
    onLost: ({ message }, seconds) => output.note(`${message} Trying again in ${seconds} s.`),
  });
  for await (const { event, data } of events) {
    if (!/\.(snapshot|changed|removed)$/.test(event)) continue;
    const value: unknown = JSON.parse(data);
    const entries = (Array.isArray(value) ? value : [value]) as StreamEntry[];
    for (const { entry, line } of states.changesIn(event, entries)) {
      if (ref !== undefined && entry.ref !== ref) continue;
      if (output.format === 'json') output.write(`${escapeInJson(JSON.stringify({ event, data: entry }))}\n`);
      else output.write(`${new Date().toISOString()}  ${printable(line)}\n`);
    }
  }
  throw interruption();
}
