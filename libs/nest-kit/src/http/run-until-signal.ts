export interface Closable {
  close(): Promise<unknown>;
}

/**
 * Ends the application on SIGINT or SIGTERM: once, in order, and within `graceMs`, after which what still hangs is
 * given up.
 */
export function runUntilSignal(
  app: Closable,
  { graceMs = 10_000, log }: { graceMs?: number; log: (line: string) => void },
): void {
  let ending = false;
  const end = (signal: NodeJS.Signals): void => {
    if (ending) return;
    ending = true;
    log(`${signal}: ending`);
    const giveUp = setTimeout(() => {
      log(`something did not end within ${graceMs} ms`);
      process.exit(1);
    }, graceMs);
    giveUp.unref();
    app.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log(`ending failed: ${error instanceof Error ? error.message : String(error)}`);
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
}
