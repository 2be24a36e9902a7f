import { KeyedQueue, messageOf, type Log, type Replicas } from '@headgate/domain-contracts';

/** How one subject is claimed among the replicas. */
interface Claim {
  /** How many reservations of this replica need it. */
  users: number;
}

/**
 * The claims of this replica in the store that all of them share. Reservations of one subject share its claim: which of
 * them are compatible is decided within the replica.
 */
export class SubjectClaims {
  private readonly claims = new Map<string, Claim>();
  /** The requests to the store about each subject. */
  private readonly requests = new KeyedQueue();

  constructor(
    private readonly replicas: Pick<Replicas, 'id' | 'claim' | 'release'>,
    private readonly log: Log,
  ) {}

  /**
   * Claims all subjects or none.
   * @returns the first subject that another replica has claimed, if there is one
   * @throws DomainError when the store can't be reached
   */
  async acquire(subjects: readonly string[]): Promise<string | undefined> {
    const acquired: string[] = [];
    try {
      // All replicas claim in the same order, so that two of them never wait for each other.
      for (const subject of [...subjects].sort()) {
        acquired.push(subject);
        if (!(await this.claim(subject))) {
          this.release(acquired);
          return subject;
        }
      }
      return undefined;
    } catch (error) {
      this.release(acquired);
      throw error;
    }
  }

  release(subjects: readonly string[]): void {
    for (const subject of subjects) {
      const claim = this.claims.get(subject);
      if (!claim) continue;
      claim.users--;
      void this.requests.run(subject, () => this.releaseUnused(subject, claim));
    }
  }

  private claim(subject: string): Promise<boolean> {
    const claim = this.claims.get(subject) ?? { users: 0 };
    this.claims.set(subject, claim);
    claim.users++;
    return this.requests.run(subject, async () => (await this.replicas.claim(claimOf(subject))) === this.replicas.id);
  }

  private async releaseUnused(subject: string, claim: Claim): Promise<void> {
    if (claim.users > 0 || this.claims.get(subject) !== claim) return;
    try {
      await this.replicas.release(claimOf(subject));
    } catch (error) {
      // It ends with this replica at the latest, and this one may claim it again at any time.
      this.log.warn({ subject, reason: messageOf(error) }, 'a reservation was not released for the other replicas');
    }
    if (claim.users === 0) this.claims.delete(subject);
  }
}

const claimOf = (subject: string): string => `use ${subject}`;
