import { randomBytes } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@headgate/matrix-protocol';
import { type Answer, jsonAnswer } from '../../wire/answer.js';

const STAGE = 'm.login.dummy';
const MAX_SESSIONS = 10_000;

/** User-interactive authentication with the one stage that asks for nothing. */
export class InteractiveAuth {
  private readonly sessions = new Set<string>();

  /** The 401 to answer with while the caller has not gone through the stage; undefined once it has. */
  challenge(body: JsonObject): Answer | undefined {
    const { auth } = body;
    if (!isJsonObject(auth)) return this.ask(this.openSession());
    // Some clients leave the session out although one was given.
    if (auth.session !== undefined && !this.sessions.has(String(auth.session))) {
      return this.ask(this.openSession(), { errcode: 'M_UNKNOWN', error: 'The session is not known.' });
    }
    if (auth.type !== STAGE) {
      return this.ask(String(auth.session ?? this.openSession()), {
        errcode: 'M_UNRECOGNIZED',
        error: `The only stage is ${STAGE}.`,
      });
    }
    this.sessions.delete(String(auth.session));
    return undefined;
  }

  private ask(session: string, failure: JsonObject = {}): Answer {
    return jsonAnswer(401, { session, flows: [{ stages: [STAGE] }], params: {}, ...failure });
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
