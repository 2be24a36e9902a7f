import type { DomainEventMessage } from '@headgate/libvirt-rpc';

/** What happened, in virsh's words. */
export interface EventWords {
  readonly action?: string;
  readonly detail?: string;
}

/** `virDomainEventType` with its details, as virsh names them. */
const LIFECYCLE: readonly (readonly [action: string, ...details: string[]])[] = [
  ['Defined', 'Added', 'Updated', 'Renamed', 'Snapshot'],
  ['Undefined', 'Removed', 'Renamed'],
  ['Started', 'Booted', 'Migrated', 'Restored', 'Snapshot', 'Event wakeup'],
  [
    'Suspended',
    'Paused',
    'Migrated',
    'IOError',
    'Watchdog',
    'Restored',
    'Snapshot',
    'API error',
    'Post-copy',
    'Post-copy Error',
  ],
  ['Resumed', 'Unpaused', 'Migrated', 'Snapshot', 'Post-copy'],
  ['Stopped', 'Shutdown', 'Destroyed', 'Crashed', 'Migrated', 'Saved', 'Failed', 'Snapshot', 'Daemon'],
  ['Shutdown', 'Finished', 'Finished after guest request', 'Finished after host request'],
  ['PMSuspended', 'Memory', 'Disk'],
  ['Crashed', 'Panicked', 'Crashloaded'],
];
const AGENT_STATES: Readonly<Record<number, string>> = { 1: 'AgentConnected', 2: 'AgentDisconnected' };
const WATCHDOG_ACTIONS = ['none', 'pause', 'reset', 'poweroff', 'shutdown', 'debug', 'inject-nmi'];
const IO_ERROR_ACTIONS = ['none', 'pause', 'report'];

export function describeMessage(message: DomainEventMessage): EventWords {
  switch (message.name) {
    case 'lifecycle': {
      const [action, ...details] = LIFECYCLE[message.event] ?? [];
      return { action, detail: details[message.detail] };
    }
    case 'agent-lifecycle':
      return { action: AGENT_STATES[message.state] };
    case 'watchdog':
      return { detail: WATCHDOG_ACTIONS[message.action] };
    case 'io-error-reason':
      return { detail: [message.alias, message.reason, IO_ERROR_ACTIONS[message.action]].filter(Boolean).join(', ') };
    default:
      return {};
  }
}

/** @param text the part of a line of `virsh event` after the domain, such as `Started Booted` */
export function describeLine(kind: string, text: string): EventWords {
  const words = text.trim();
  if (kind === 'lifecycle') {
    const [, action, detail] = /^(\S+) ?(.*)$/.exec(words) ?? [];
    return { action, ...(detail && { detail }) };
  }
  if (kind === 'agent-lifecycle') {
    const state = /state: '(\w+)'/.exec(words)?.[1];
    return { action: state === 'connected' ? 'AgentConnected' : 'AgentDisconnected' };
  }
  return words === '' ? {} : { detail: words.slice(0, 200) };
}
