import { CROWDSEC_AGENT } from '../config/crowdsec-agent.js';
import { parseGoDuration } from '../config/go-duration.js';
import { isRecord } from '../config/is-record.js';
import { entryProblem } from '../config/prefix-table.js';

const REQUEST_TIMEOUT_MS = 30_000;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
const MAX_DECISIONS = 100_000;

export interface CrowdsecStreamOptions {
  /** The origin of the local API. */
  readonly url: string;
  /** Returns the key of the bouncer; read for each request, so that it can change. */
  readonly key: () => string;
  /** The origin of decisions that this gateway has created itself, which are left out. */
  readonly ownOrigin?: string | undefined;
  /** Milliseconds since any time. */
  readonly now?: () => number;
}

/**
 * The addresses and networks that CrowdSec has banned, by the stream of its local API: all decisions first, and then
 * the changes. Source: https://docs.crowdsec.net/docs/next/local_api/bouncers. Decisions of other types and scopes are
 * left out, and so are simulated ones.
 */
export class CrowdsecStream {
  /** When each ban ends. */
  private readonly untilMs = new Map<string, number>();
  private readonly now: () => number;
  private isStarted = false;
  /** Bans that were left out, because they are no networks, or too many. */
  skipped = 0;

  constructor(private readonly options: CrowdsecStreamOptions) {
    this.now = options.now ?? (() => performance.now());
  }

  /** The bans in force. */
  get entries(): string[] {
    const nowMs = this.now();
    return [...this.untilMs].flatMap(([value, untilMs]) => (untilMs > nowMs ? [value] : []));
  }

  /**
   * Asks for the changes. After a failure, which may have lost some, it asks for everything again.
   * @returns whether anything has changed
   * @throws Error with the reason; the bans in force stay until they end
   */
  async poll(): Promise<boolean> {
    const before = this.entries.join();
    const isFirst = !this.isStarted;
    this.isStarted = false;
    const { added, deleted } = await this.request(isFirst);
    if (isFirst) {
      this.untilMs.clear();
      this.skipped = 0;
    }
    for (const value of deleted.flatMap((decision) => this.bannedBy(decision))) this.untilMs.delete(value);
    for (const decision of added) this.add(decision);
    for (const [value, untilMs] of this.untilMs) if (untilMs <= this.now()) this.untilMs.delete(value);
    this.isStarted = true;
    return this.entries.join() !== before;
  }

  private add(decision: unknown): void {
    for (const value of this.bannedBy(decision)) {
      const durationMs = parseGoDuration((decision as { duration?: unknown }).duration);
      const isNew = !this.untilMs.has(value);
      if (
        entryProblem(value) !== undefined ||
        durationMs === undefined ||
        (isNew && this.untilMs.size >= MAX_DECISIONS)
      )
        this.skipped++;
      else this.untilMs.set(value, Math.max(this.untilMs.get(value) ?? 0, this.now() + durationMs));
    }
  }

  /**
   * The address or network that a decision bans; none for other decisions. One of this gateway would turn a block of
   * some requests into a ban of all of them, and come back as often as it is exported.
   */
  private bannedBy(decision: unknown): string[] {
    if (!isRecord(decision)) return [];
    const { type, scope, value, simulated, origin } = decision;
    const isBan = String(type).toLowerCase() === 'ban' && simulated !== true;
    const isNetwork = ['ip', 'range'].includes(String(scope).toLowerCase());
    const isOwn = origin !== undefined && origin === this.options.ownOrigin;
    return isBan && isNetwork && !isOwn && typeof value === 'string' ? [value] : [];
  }

  private async request(isFirst: boolean): Promise<{ added: unknown[]; deleted: unknown[] }> {
    const response = await fetch(new URL(`/v1/decisions/stream?startup=${isFirst}`, this.options.url), {
      headers: { 'X-Api-Key': this.options.key(), 'User-Agent': CROWDSEC_AGENT },
      redirect: 'error',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if (response.status === 403) throw new Error('the key was not accepted (403); create one with cscli bouncers add');
    if (response.status !== 200) throw new Error(`the local API answered ${response.status}`);
    const body = JSON.parse(await textOf(response)) as unknown;
    if (!isRecord(body)) throw new Error('the answer of the local API is no object');
    return { added: listIn(body.new), deleted: listIn(body.deleted) };
  }
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES) throw new Error(`the answer has more than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The API writes `null` for an empty list. */
function listIn(value: unknown): unknown[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) throw new Error('new and deleted of the answer must be lists');
  return value;
}
