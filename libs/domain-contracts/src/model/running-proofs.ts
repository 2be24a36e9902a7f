import { DomainError } from '../values/domain-error.js';
import type { Refusal } from './plan.js';
import { RunningWork } from './running-work.js';

/** Guests of proofs at the same time, of one service in one context. */
const MAX_PROOFS = 2;
const PROOF_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether it identifies a proof. Names of objects contain it. */
export const isProofId = (id: string): boolean => PROOF_ID.test(id);

/** The proofs of backups that this process runs in a context. */
export class RunningProofs {
  private readonly work = new RunningWork();
  /** Of the guests, by the IDs of the proofs. */
  private readonly memory = new Map<string, number>();

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
    const busy = (): DomainError => new DomainError('BUSY', `The proof ${id} runs already.`);
    return this.work.run(id, { signal, busy }, async (either) => {
      this.memory.set(id, memoryBytes);
      try {
        return await work(either);
      } finally {
        this.memory.delete(id);
      }
    });
  }

  has(id: string): boolean {
    return this.memory.has(id);
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
    return [...this.memory].filter(([other]) => other !== id).map(([, memoryBytes]) => memoryBytes);
  }

  whenEnded(id: string): Promise<void> {
    return this.work.whenEnded(id);
  }

  /** Ends all proofs, and waits until nothing is left of them. */
  close(): Promise<void> {
    return this.work.close();
  }
}
