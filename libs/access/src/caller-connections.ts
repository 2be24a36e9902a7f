import type { Caller } from '@headgate/domain-contracts';
import type { ApiTokens } from './api-tokens.js';
import type { KnownGroups } from './known-groups.js';
import type { Roles } from './roles.js';

/** Closes a connection, with the reason in words. */
type Close = (reason: string) => void;

interface Connection {
  readonly grant: Caller['grant'];
  readonly version: string;
  readonly close: Close;
}

/** The sessions of users who have logged in. */
export interface ClosingSessions {
  closeWith(id: string, close: () => void): () => void;
}

/** Closes long connections, such as streams and consoles, when the rights of their callers change. */
export class CallerConnections {
  private readonly connections = new Set<Connection>();

  constructor(
    private readonly tokens: ApiTokens,
    private readonly sessions: ClosingSessions,
    private readonly roles: Roles,
    private readonly groups?: Pick<KnownGroups, 'subscribe'>,
  ) {
    // For as long as the process lives.
    this.subscribe(() => this.closeChanged());
  }

  /**
   * Closes a connection when the API token of its caller expires, is changed or revoked, when their session ends, and
   * when they get other rights by roles.
   * @returns call it when the connection has ended
   */
  closeWith(caller: Pick<Caller, 'token' | 'session' | 'grant'>, close: Close): () => void {
    const { grant } = caller;
    const connection = { grant, version: grant.version, close };
    this.connections.add(connection);
    const release = this.closeWithCredential(caller, close);
    return () => {
      release();
      this.connections.delete(connection);
    };
  }

  /** The same for the API token and the session only. */
  closeWithCredential({ token, session }: Pick<Caller, 'token' | 'session'>, close: Close): () => void {
    if (token !== undefined) return this.tokens.closeWith(token, () => close('the API token has ended'));
    if (session !== undefined) return this.sessions.closeWith(session, () => close('the session has ended'));
    return () => undefined;
  }

  /** @param listener called after the rights of anyone may have changed, until the returned function is called */
  subscribe(listener: () => void): () => void {
    const releases = [this.roles.subscribe(listener), this.groups?.subscribe(listener)];
    return () => releases.forEach((release) => release?.());
  }

  private closeChanged(): void {
    for (const { grant, version, close } of [...this.connections])
      if (versionOf(grant) !== version) close('the rights of the user have changed');
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
