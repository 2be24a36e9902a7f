/** Who asks for an action, and from where. */
export interface OperatorIdentity {
  /** The name of the token; `local` on a loopback listener without one. */
  readonly operator: string;
  /** The peer of the connection, which can be a proxy. */
  readonly address: string;
}

/** A change that an operator asks for. */
export interface JournaledAction extends OperatorIdentity {
  readonly action: 'lift' | 'set_override' | 'delete_override';
  readonly rule: string;
  readonly key: string;
  readonly reason?: string | undefined;
  /** The new limit, such as `5 times until 2030-01-31T12:00:00.000Z`. */
  readonly detail?: string | undefined;
}

/** An action in the journal. */
export interface OperatorEntry extends JournaledAction {
  readonly id: string;
  /** ISO 8601. */
  readonly time: string;
  /** `nothing`: there was nothing to change. Absent: unknown, the process ended before the action did. */
  result?: 'done' | 'nothing' | 'failed';
}

const RESULTS: readonly unknown[] = ['done', 'nothing', 'failed'] satisfies OperatorEntry['result'][];
const ACTIONS: readonly unknown[] = ['lift', 'set_override', 'delete_override'] satisfies OperatorEntry['action'][];

/** The entries with their results. Lines that are cut or not of a journal are skipped. */
export function readLines(text: string): OperatorEntry[] {
  const entries = new Map<string, OperatorEntry>();
  for (const line of text.split('\n')) {
    const entry = parse(line);
    if (!entry) continue;
    const known = entries.get(entry.id);
    if (known && RESULTS.includes(entry.result)) known.result = entry.result!;
    else if (!known && isEntry(entry)) entries.set(entry.id, entry);
  }
  return [...entries.values()];
}

function parse(line: string): OperatorEntry | undefined {
  try {
    const value = JSON.parse(line) as OperatorEntry | null;
    return typeof value?.id === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

const isEntry = ({ action, time, operator, address, rule, key }: OperatorEntry): boolean =>
  ACTIONS.includes(action) && [time, operator, address, rule, key].every((text) => typeof text === 'string');
