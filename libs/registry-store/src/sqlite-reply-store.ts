import {
  DomainError,
  ReplyStore,
  tooManyKeys,
  type KeptReply,
  type ReplyClaim,
  type StoredReply,
} from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

const MAX_PER_CALLER = 10_000;

interface ReplyRow extends ReplyClaim {
  readonly status: number | null;
  readonly sealed: string | null;
}

const ROW = `SELECT scope, caller, request, replica, run, claimed_at AS claimedAt, expires_at AS expiresAt, status, sealed
  FROM reply WHERE scope = ?`;
/** The row of a claim, if this run has it and it has no answer. */
const OPEN_CLAIM = 'scope = ? AND run = ? AND claimed_at = ? AND status IS NULL';
const keyOf = ({ scope, run, claimedAt }: ReplyClaim): [string, string, string] => [scope, run, claimedAt];

/** ReplyStore over the registry. Keeps 10,000 claims of each caller. */
export class SqliteReplyStore extends ReplyStore {
  constructor(
    private readonly database: RegistryDatabase,
    private readonly maxPerCaller = MAX_PER_CALLER,
  ) {
    super();
  }

  override async claim(claim: ReplyClaim): Promise<StoredReply | undefined> {
    return this.database.transaction(() => {
      const row = this.database.get<ReplyRow>(ROW, claim.scope);
      if (row && row.expiresAt > claim.claimedAt) return replyOf(row);
      this.expectFewer(claim);
      const { scope, caller, request, replica, run, claimedAt, expiresAt } = claim;
      this.database.run(
        `INSERT OR REPLACE INTO reply (scope, caller, request, replica, run, claimed_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        ...[scope, caller, request, replica, run, claimedAt, expiresAt],
      );
      return undefined;
    });
  }

  override async complete(claim: ReplyClaim, { status, sealed }: KeptReply): Promise<void> {
    const sql = `UPDATE reply SET status = ?, sealed = ? WHERE ${OPEN_CLAIM}`;
    if (this.database.run(sql, status, sealed ?? null, ...keyOf(claim)) === 0)
      throw new DomainError('CONFLICT', 'The idempotency key is no longer claimed by this run.');
  }

  override async release(claim: ReplyClaim): Promise<void> {
    this.database.run(`DELETE FROM reply WHERE ${OPEN_CLAIM}`, ...keyOf(claim));
  }

  override async deleteExpired(time: string): Promise<void> {
    this.database.run('DELETE FROM reply WHERE expires_at <= ?', time);
  }

  /** @throws DomainError TOO_MANY_KEYS */
  private expectFewer({ caller, claimedAt }: ReplyClaim): void {
    const sql = 'SELECT count(*) AS n FROM reply WHERE caller = ? AND expires_at > ?';
    if (this.database.count(sql, caller, claimedAt) >= this.maxPerCaller)
      throw new DomainError('TOO_MANY_KEYS', tooManyKeys(this.maxPerCaller));
  }
}

const replyOf = ({ status, sealed, ...claim }: ReplyRow): StoredReply => ({
  ...claim,
  ...(status === null ? {} : { reply: { status, ...(sealed === null ? {} : { sealed }) } }),
});
