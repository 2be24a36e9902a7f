import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { TOKEN_ACTIONS } from '@headgate/domain-contracts';
import type { TestService } from '../../testing/test-service.js';

/** What `rehearse` returns. */
export interface RehearsalResult {
  readonly id: string;
  readonly hash: string;
  readonly refs: readonly string[];
  readonly changes: number;
  readonly needsApproval: boolean;
  readonly destructive: boolean;
  readonly changesLeft: number;
  readonly plan: { readonly steps: readonly { readonly name: string; readonly detail: string }[] };
  readonly refused?: readonly { readonly ref: string }[];
  readonly code?: string;
  readonly error?: string;
}

/** What `commit` returns. */
export interface CommitResult {
  readonly id: string;
  readonly status?: string;
  readonly task?: string;
  readonly code?: string;
  readonly error?: string;
  readonly details?: Record<string, unknown>;
}

export const LEASH = { changesPerHour: 100, maxPercentOfFolder: 100, approval: 'none' } as const;

/** A token with a leash, by its ID and as text. */
export async function createAgentToken(
  service: TestService,
  options: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<{ readonly id: string; readonly text: string }> {
  const body = { name: 'agent', actions: TOKEN_ACTIONS, agent: LEASH, ...options };
  const { status, json } = await service.send('POST', '/api/ext/tokens', body, headers);
  if (status !== 201) throw new Error(json.error);
  return { id: String(json['id']), text: String(json['token']) };
}

/** An agent that speaks the protocol with the client of the official SDK. */
export class AgentClient {
  readonly client = new Client({ name: 'test', version: '1' });
  readonly transport: StreamableHTTPClientTransport;

  constructor(base: string, token: string) {
    this.transport = new StreamableHTTPClientTransport(new URL(`http://${base}/api/ext/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    });
  }

  async open(): Promise<this> {
    // Its types do not allow for exactOptionalPropertyTypes.
    await this.client.connect(this.transport as Parameters<Client['connect']>[0]);
    return this;
  }

  /** The data of a result, also of an error. */
  async call<T = Record<string, unknown>>(name: string, args: Record<string, unknown> = {}): Promise<T> {
    const { structuredContent } = await this.client.callTool({ name, arguments: args });
    return (structuredContent as { data: T }).data;
  }

  rehearse(args: Record<string, unknown>): Promise<RehearsalResult> {
    return this.call('rehearse', args);
  }

  commit({ id, hash }: Pick<RehearsalResult, 'id' | 'hash'>, reason = 'A test.'): Promise<CommitResult> {
    return this.call('commit', { id, hash, reason });
  }

  async change(args: Record<string, unknown>): Promise<CommitResult> {
    return this.commit(await this.rehearse(args));
  }

  close(): Promise<void> {
    return this.client.close();
  }
}
