/** A state with its reason, in the words of virsh. */
export interface DomainState {
  /** libvirt's name of the state: `running`, `paused`, `shut off`, … */
  readonly word: string;
  readonly reason: string;
  /** Whether it has a QEMU process. */
  readonly isActive: boolean;
}

/** Parses the output of `domstate --reason`. */
export function parseDomainState(output: string): DomainState {
  const [, word = 'no state', reason = ''] = /^\s*([a-z ]+?)\s*(?:\((.*)\))?\s*$/m.exec(output) ?? [];
  return { word, reason, isActive: isActive(word) };
}

/** `virDomainState` with the `…Reason` of each state, as virsh names them. */
const STATES: readonly (readonly [word: string, ...reasons: string[]])[] = [
  ['no state', 'unknown'],
  [
    'running',
    'unknown',
    'booted',
    'migrated',
    'restored',
    'from snapshot',
    'unpaused',
    'migration canceled',
    'save canceled',
    'event wakeup',
    'crashed',
    'post-copy',
    'post-copy failed',
  ],
  ['idle', 'unknown'],
  [
    'paused',
    'unknown',
    'user',
    'migrating',
    'saving',
    'dumping',
    'I/O error',
    'watchdog',
    'from snapshot',
    'shutting down',
    'creating snapshot',
    'crashed',
    'starting up',
    'post-copy',
    'post-copy failed',
  ],
  ['in shutdown', 'unknown', 'user'],
  ['shut off', 'unknown', 'shutdown', 'destroyed', 'crashed', 'migrated', 'saved', 'failed', 'from snapshot', 'daemon'],
  ['crashed', 'unknown', 'panicked'],
  ['pmsuspended', 'unknown'],
];

/** The state that libvirt's RPC protocol numbers. */
export function domainStateOf(state: number, reason: number): DomainState {
  const [word, ...reasons] = STATES[state] ?? ['no state'];
  return { word, reason: reasons[reason] ?? 'unknown', isActive: isActive(word) };
}

const isActive = (word: string): boolean => !['shut off', 'crashed', 'no state'].includes(word);
