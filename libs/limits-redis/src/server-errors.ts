/** The server did not answer in time. */
export class ServerTooSlow extends Error {
  constructor(ms: number) {
    super(`The server of the shared windows did not answer within ${ms} ms.`);
    this.name = 'ServerTooSlow';
  }
}

/** There is no connection to the server; the reason is the last thing that went wrong with it. */
export class ServerAway extends Error {
  constructor(reason: unknown) {
    super(`The server of the shared windows is away: ${reasonOf(reason)}.`, { cause: reason });
    this.name = 'ServerAway';
  }
}

const reasonOf = (reason: unknown): string =>
  reason === undefined ? 'it has not been reached yet' : reason instanceof Error ? reason.message : String(reason);
