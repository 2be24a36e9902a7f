/** A query that can't be understood. The message is one sentence for the user. */
export class QueryError extends Error {
  override readonly name = 'QueryError';

  /** @param at the index of the first character that the message is about */
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message);
  }

  /** The message with the position, which counts from 1: `Character 8: …`. */
  get located(): string {
    return `Character ${this.at + 1}: ${this.message}`;
  }
}
