import type { Reply } from './http-client.js';

/** A response as it compares between two runs: without values that are random or depend on the time. */
export interface Recorded {
  step: string;
  status: number;
  headers: Record<string, unknown>;
  body: unknown;
}

/** They belong to one connection, frame the body, or name the time. */
const NOT_COMPARED = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'date']);

/** Event, room, media, delay and session IDs, tokens, and positions in the sync. */
const RANDOM =
  /\$[\w-]{43}|![\w-]{43}|![A-Za-z]{18}:|\bsyt_\w+|(?<=b\.example\/)[A-Za-z0-9]{24}|\bsyd_\w+|\b[A-Za-z]{24}\b|\b[st]\d+(?:-\d+)?(?:_[\d.~:-]+)+/g;
/** Milliseconds since 1970, of this century. */
const TIME = /\b[12]\d{12}\b/g;
const DURATIONS = new Set(['age', 'last_active_ago', 'running_since', 'retry_after_ms']);

/** The responses of one run of a scenario. */
export class Trace {
  readonly recorded: Recorded[] = [];
  private readonly names = new Map<string, string>();
  private namedStep = 0;
  private inStep = 0;

  record(step: string, { status, headers, body, bytes }: Reply): void {
    const compared = Object.entries(headers).filter(([name]) => !NOT_COMPARED.has(name));
    this.recorded.push({
      step,
      status,
      headers: Object.fromEntries(compared.map(([name, value]) => [name, this.plain(value)])),
      body: body === undefined ? bytes.toString('latin1') : this.plain(body),
    });
  }

  /** The value with the place of its first appearance instead of each random part. */
  private plain(value: unknown): unknown {
    if (typeof value === 'string') return value.replace(RANDOM, (text) => this.nameOf(text)).replace(TIME, 'time');
    if (typeof value === 'number') return String(value).replace(TIME, 'time');
    if (Array.isArray(value)) return value.map((item) => this.plain(item));
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(
      members.map(([name, member]) => [
        String(this.plain(name)),
        DURATIONS.has(name) && typeof member === 'number' ? 'duration' : this.plain(member),
      ]),
    );
  }

  private nameOf(text: string): string {
    const known = this.names.get(text);
    if (known !== undefined) return known;
    if (/^[st]\d/.test(text)) return 'position';
    const step = this.recorded.length;
    this.inStep = this.namedStep === step ? this.inStep + 1 : 1;
    this.namedStep = step;
    const name = `value ${this.inStep} of step ${step}`;
    this.names.set(text, name);
    return name;
  }
}
