/** The part of a clock that this client uses. */
export interface Timers {
  /** Calls back once after a time; the returned function cancels that. */
  after(ms: number, callback: () => void): () => void;
}

export const systemTimers: Timers = {
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
