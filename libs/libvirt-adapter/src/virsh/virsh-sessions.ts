import { isDisconnected } from '../programs/translate-failure.js';
import { VirshSession, type SessionOptions, type SessionProcess, type SessionResult } from './virsh-session.js';

/** A session without commands for this time ends. */
const IDLE_MS = 10_000;

/** As many sessions as commands run at the same time, each kept for the next command. */
export class VirshSessions {
  private readonly idle: { session: VirshSession; timer: NodeJS.Timeout }[] = [];
  private isClosed = false;

  /** @param spawn starts a virsh without a command */
  constructor(private readonly spawn: () => SessionProcess) {}

  /** See `VirshSession.run`. */
  async run(commands: readonly (readonly string[])[], options: SessionOptions): Promise<SessionResult> {
    const session = this.take() ?? new VirshSession(this.spawn());
    const result = await session.run(commands, options);
    if (this.isClosed || isDisconnected(result.stderr)) session.close();
    else if (session.isUsable) this.keep(session);
    return result;
  }

  /** Ends the sessions, those that are in use after their commands. */
  close(): void {
    this.isClosed = true;
    for (const { session, timer } of this.idle.splice(0)) {
      clearTimeout(timer);
      session.close();
    }
  }

  /** The session that was used last. One that has ended meanwhile is dropped. */
  private take(): VirshSession | undefined {
    for (let last = this.idle.pop(); last; last = this.idle.pop()) {
      clearTimeout(last.timer);
      if (last.session.isUsable) return last.session;
    }
    return undefined;
  }

  private keep(session: VirshSession): void {
    const entry = { session, timer: setTimeout(() => this.drop(entry), IDLE_MS).unref() };
    this.idle.push(entry);
  }

  private drop(entry: { session: VirshSession; timer: NodeJS.Timeout }): void {
    const index = this.idle.indexOf(entry);
    if (index >= 0) this.idle.splice(index, 1);
    entry.session.close();
  }
}
