import { randomBytes } from 'node:crypto';
import { isJsonObject, type JsonObject, type MatrixErrorBody } from '@headgate/matrix-protocol';
import { type MatrixResponse, jsonResponse } from '@headgate/homeserver-contracts';
import type { AuthStage } from './auth-stages.js';

const MAX_SESSIONS = 10_000;

/** User-interactive authentication with a flow of one stage. */
export class InteractiveAuth {
  private readonly sessions = new Set<string>();

  constructor(private readonly stage: AuthStage) {}

  /** The 401 to answer with while the caller has not gone through the stage; undefined once it has. */
  challenge({ auth }: JsonObject): MatrixResponse | undefined {
    if (!isJsonObject(auth)) return this.ask(this.openSession());
    const { type, session = this.openSession() } = auth;
    if (typeof session !== 'string' || !this.sessions.has(session)) {
      return this.ask(this.openSession(), { errcode: 'M_UNKNOWN', error: 'The session is not known.' });
    }
    // A session alone asks whether something outside has completed the stage: nothing has.
    if (type === undefined) return this.ask(session);
    const failure = type === this.stage.type ? this.stage.check(auth) : this.unknownStage();
    if (failure) return this.ask(session, failure);
    this.sessions.delete(session);
    return undefined;
  }

  private ask(session: string, failure?: MatrixErrorBody): MatrixResponse {
    return jsonResponse(401, { session, flows: [{ stages: [this.stage.type] }], params: {}, ...failure });
  }

  private unknownStage(): MatrixErrorBody {
    return { errcode: 'M_UNRECOGNIZED', error: `The only stage is ${this.stage.type}.` };
  }

  // Sessions are forgotten oldest first; a client that comes back later starts again.
  private openSession(): string {
    const session = randomBytes(18).toString('base64url');
    this.sessions.add(session);
    for (const oldest of this.sessions) {
      if (this.sessions.size <= MAX_SESSIONS) break;
      this.sessions.delete(oldest);
    }
    return session;
  }
}
