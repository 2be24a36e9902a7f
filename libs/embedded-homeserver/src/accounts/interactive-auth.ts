import { randomBytes } from 'node:crypto';
import { isJsonObject, type JsonObject, type MatrixErrorBody } from '@headgate/matrix-protocol';
import { type MatrixResponse, jsonResponse } from '@headgate/homeserver-contracts';
import type { AuthStage } from './auth-stages.js';

const MAX_SESSIONS = 10_000;

/** User-interactive authentication with a single stage. */
export class InteractiveAuth {
  private readonly sessions = new Set<string>();

  constructor(private readonly stage: AuthStage) {}

  /** The 401 response until the caller has completed the stage; undefined afterwards. */
  challenge({ auth }: JsonObject): MatrixResponse | undefined {
    if (!isJsonObject(auth)) return this.challengeOf(this.openSession());
    const { type, session = this.openSession() } = auth;
    if (typeof session !== 'string' || !this.sessions.has(session)) {
      return this.challengeOf(this.openSession(), { errcode: 'M_UNKNOWN', error: 'Unknown session.' });
    }
    // A session without a type asks whether the stage was completed elsewhere, which is impossible here.
    if (type === undefined) return this.challengeOf(session);
    const failure = type === this.stage.type ? this.stage.check(auth) : this.unknownStage();
    if (failure) return this.challengeOf(session, failure);
    this.sessions.delete(session);
    return undefined;
  }

  private challengeOf(session: string, failure?: MatrixErrorBody): MatrixResponse {
    return jsonResponse(401, { session, flows: [{ stages: [this.stage.type] }], params: {}, ...failure });
  }

  private unknownStage(): MatrixErrorBody {
    return { errcode: 'M_UNRECOGNIZED', error: `The only stage is ${this.stage.type}.` };
  }

  // The oldest sessions are dropped first. Their clients start again.
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
