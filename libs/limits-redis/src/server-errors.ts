/** The server did not answer in time. */
export class ServerTimeout extends Error {
  constructor(ms: number) {
    super(`The Redis server did not answer within ${ms} ms.`);
    this.name = 'ServerTimeout';
  }
}

/** There is no connection to the server; `cause` is the last error. */
export class ServerUnavailable extends Error {
  constructor(reason: unknown) {
    super(`The Redis server is unavailable: ${reasonOf(reason)}.`, { cause: reason });
    this.name = 'ServerUnavailable';
  }
}

const reasonOf = (reason: unknown): string =>
  reason === undefined ? 'not connected yet' : reason instanceof Error ? reason.message : String(reason);
