export interface Closable {
  close(): Promise<unknown>;
}

/**
 * Closes the application on SIGINT or SIGTERM, once, and exits. When closing takes longer than `graceMs`, it exits with
 * code 1.
 */
export function runUntilSignal(
  app: Closable,
  { graceMs = 10_000, log }: { graceMs?: number; log: (line: string) => void },
): void {
  let isClosing = false;
  const close = (signal: NodeJS.Signals): void => {
    if (isClosing) return;
    isClosing = true;
    log(`received ${signal}, shutting down`);
    const deadline = setTimeout(() => {
      log(`shutdown took longer than ${graceMs} ms`);
      process.exit(1);
    }, graceMs);
    deadline.unref();
    app.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log(`shutdown failed: ${error instanceof Error ? error.message : String(error)}`);
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', close);
  process.on('SIGTERM', close);
}
