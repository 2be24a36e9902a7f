const TICK_MS = 50;

/**
 * Measures time in ticks of this process, so that the time in which a busy machine does not run it does not count.
 * @returns a function that stops it and returns the milliseconds
 */
export function stopwatch(): () => number {
  let ticks = 0;
  const timer = setInterval(() => ticks++, TICK_MS);
  return () => {
    clearInterval(timer);
    return ticks * TICK_MS;
  };
}
