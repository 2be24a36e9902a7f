import { DomainError } from '../values/domain-error.js';
import type { Refusal } from './plan.js';

/** Guests of proofs at the same time, of one service in one context. */
const MAX_PROOFS = 2;
const PROOF_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether it identifies a proof. Names of objects contain it. */
export const isProofId = (id: string): boolean => PROOF_ID.test(id);

interface Running {
  readonly memoryBytes: number;
  readonly cancel: AbortController;
  ended: Promise<unknown>;
}

/** The proofs of backups that this process runs in a context. */
export class RunningProofs {
  private readonly running = new Map<string, Running>();

  /**
   * Runs a proof until its work has ended. It counts from the beginning, so that two proofs at the same time see each
   * other.
   * @throws DomainError INVALID_INPUT, BUSY, or the error of the work
   */
  async run<T>(
    { id, vm: { memoryBytes } }: { readonly id: string; readonly vm: { readonly memoryBytes: number } },
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (!isProofId(id)) throw new DomainError('INVALID_INPUT', 'id: use a UUID in lower case.');
    if (this.running.has(id)) throw new DomainError('BUSY', `The proof ${id} runs already.`);
    const cancel = new AbortController();
    const entry: Running = { memoryBytes, cancel, ended: Promise.resolve() };
    this.running.set(id, entry);
    const working = work(AbortSignal.any([signal, cancel.signal]));
    entry.ended = working.catch(() => undefined).finally(() => this.running.delete(id));
    try {
      return await working;
    } finally {
      await entry.ended;
    }
  }

  has(id: string): boolean {
    return this.running.has(id);
  }

  /** Why a further proof can't begin now. */
  refusals(context: string, id: string): readonly Refusal[] {
    const { length } = this.memoryOfOthers(id);
    if (length < MAX_PROOFS) return [];
    const reason = `${context} has ${length} proofs of backups already.`;
    return [{ code: 'BUSY', reason, remedy: 'Wait until one has ended.' }];
  }

  /** The memory of the guests of other proofs, in bytes. */
  memoryOfOthers(id: string): readonly number[] {
    return [...this.running].filter(([other]) => other !== id).map(([, { memoryBytes }]) => memoryBytes);
  }

  async whenEnded(id: string): Promise<void> {
    await this.running.get(id)?.ended;
  }

  /** Ends all proofs, and waits until nothing is left of them. */
  async close(): Promise<void> {
    const all = [...this.running.values()];
    for (const { cancel } of all) cancel.abort(new DomainError('SHUTTING_DOWN', 'The service is stopping.'));
    await Promise.all(all.map(({ ended }) => ended));
  }
}
