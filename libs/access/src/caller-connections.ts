import type { Caller } from '@headgate/domain-contracts';
import type { ApiTokens } from './api-tokens.js';
import type { Roles } from './roles.js';

interface Connection {
  readonly grant: Caller['grant'];
  readonly version: string;
  readonly close: () => void;
}

/** Closes long connections, such as streams and consoles, when the rights of their callers change. */
export class CallerConnections {
  private readonly connections = new Set<Connection>();

  constructor(
    private readonly tokens: ApiTokens,
    private readonly roles: Roles,
  ) {
    // For as long as the process lives.
    roles.subscribe(() => this.closeChanged());
  }

  /**
   * Closes a connection when the API token of its caller expires, is changed or revoked, and when the caller gets other
   * rights by roles.
   * @returns call it when the connection has ended
   */
  closeWith(caller: Pick<Caller, 'token' | 'grant'>, close: () => void): () => void {
    const { grant } = caller;
    const connection = { grant, version: grant.version, close };
    this.connections.add(connection);
    const release = this.closeWithToken(caller, close);
    return () => {
      release();
      this.connections.delete(connection);
    };
  }

  /** The same for the API token only. */
  closeWithToken({ token }: Pick<Caller, 'token'>, close: () => void): () => void {
    return token === undefined ? () => undefined : this.tokens.closeWith(token, close);
  }

  /** @param listener called after the rights of anyone may have changed, until the returned function is called */
  subscribe(listener: () => void): () => void {
    return this.roles.subscribe(listener);
  }

  private closeChanged(): void {
    for (const { grant, version, close } of [...this.connections]) if (versionOf(grant) !== version) close();
  }
}

/** Rights that can't be checked may have been taken away. */
function versionOf(grant: Caller['grant']): string | undefined {
  try {
    return grant.version;
  } catch {
    return undefined;
  }
}
