const ignore = (): void => undefined;
let holders = 0;

/**
 * Keeps SIGHUP from ending this process until the returned function is called. restic sends it to the process of a lock
 * to find out whether it is alive, and ignores it itself.
 */
export function surviveHangups(): () => void {
  if (holders++ === 0) process.on('SIGHUP', ignore);
  let isHeld = true;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    if (--holders === 0) process.removeListener('SIGHUP', ignore);
  };
}
