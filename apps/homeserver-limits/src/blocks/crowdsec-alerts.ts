import { CROWDSEC_AGENT } from '../config/crowdsec-agent.js';
import { isRecord } from '../config/is-record.js';
import type { AddressBlock, AddressBlocks, BlockChanges } from '../state/address-blocks.js';
import { decisionOf, scenarioOf } from './lapi-decision.js';

const REQUEST_TIMEOUT_MS = 30_000;
/** Alerts in a request. */
const BATCH = 100;
/** The local API as a reader of the blocks. */
const READER = 'crowdsec';

export interface CrowdsecAlertsOptions {
  /** The origin of the local API. */
  readonly url: string;
  readonly machine: string;
  /** Returns the password of the machine; read for each login, so that it can change. */
  readonly password: () => string;
  readonly blocks: Pick<AddressBlocks, 'origin' | 'since' | 'positionOf' | 'advance'>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Sends the blocks to CrowdSec's local API, as a machine: an alert with its decision for each, and a deletion for each
 * that ends early. Source: https://docs.crowdsec.net/docs/next/local_api/intro and its Swagger document.
 */
export class CrowdsecAlerts {
  private readonly now: () => number;
  private token: string | undefined;

  constructor(private readonly options: CrowdsecAlertsOptions) {
    this.now = options.now ?? Date.now;
  }

  /**
   * Sends the changes since the last time. After a failure, all of them are sent again.
   * @returns whether there were any
   * @throws Error with the reason
   */
  async push(): Promise<boolean> {
    const { blocks } = this.options;
    const known = blocks.positionOf(READER);
    const changes = blocks.since(known);
    if (changes.position === known) return false;
    await this.send(changes);
    blocks.advance(READER, changes.position);
    return changes.added.length + changes.ended.length > 0;
  }

  private async send({ added, ended }: BlockChanges): Promise<void> {
    const { origin } = this.options.blocks;
    // The local API ends the others by their duration. First, because a value may be blocked again.
    for (const { rule, value, hasExpired } of ended) {
      if (hasExpired) continue;
      // Another gateway may still block the value by a rule of the same name.
      const filter = new URLSearchParams({ value, scenario: scenarioOf(rule), type: 'ban', origin });
      await this.request('DELETE', `/v1/decisions?${filter.toString()}`);
    }
    for (let from = 0; from < added.length; from += BATCH) {
      const alerts = added.slice(from, from + BATCH).map((block) => this.alertOf(block));
      await this.request('POST', '/v1/alerts', alerts);
    }
  }

  private alertOf(block: AddressBlock): object {
    const { id: _, ...decision } = decisionOf(block, this.options.blocks.origin, this.now());
    const { scenario, scope, value } = decision;
    const source = scope === 'Ip' ? { scope, value, ip: value } : { scope, value, range: value };
    const at = new Date(block.startedMs).toISOString();
    return {
      scenario,
      scenario_hash: '',
      scenario_version: '',
      message: `${scope} ${value} is blocked by the rule ${block.rule}`,
      events: [],
      events_count: 1,
      capacity: 0,
      leakspeed: '0s',
      start_at: at,
      stop_at: at,
      simulated: false,
      remediation: true,
      source,
      decisions: [decision],
    };
  }

  /** Sends a request with the token of the machine, which is renewed when the local API no longer accepts it. */
  private async request(method: string, path: string, body?: object): Promise<void> {
    const isFresh = this.token === undefined;
    this.token ??= await this.login();
    const response = await this.fetch(method, path, body, { Authorization: `Bearer ${this.token}` });
    await response.body?.cancel();
    if (response.ok) return;
    if (response.status === 401) {
      this.token = undefined;
      if (!isFresh) return this.request(method, path, body);
    }
    throw new Error(`the local API answered ${response.status} to ${method} ${path.split('?', 1)[0]}`);
  }

  private async login(): Promise<string> {
    const { machine, password } = this.options;
    const credentials = { machine_id: machine, password: password(), scenarios: [] };
    const response = await this.fetch('POST', '/v1/watchers/login', credentials);
    const text = await response.text();
    if (response.status === 401 || response.status === 403)
      throw new Error(
        `the machine was not accepted (${response.status}); create it with cscli machines add ${machine}`,
      );
    if (!response.ok) throw new Error(`the local API answered ${response.status} to the login`);
    const answer = JSON.parse(text) as unknown;
    if (!isRecord(answer) || typeof answer.token !== 'string')
      throw new Error('the answer of the local API has no token');
    return answer.token;
  }

  private fetch(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(new URL(path, this.options.url), {
      method,
      headers: { ...headers, 'User-Agent': CROWDSEC_AGENT, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
  }
}
