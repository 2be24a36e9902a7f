import { messageOf, type Clock, type OpenedBackend } from '@headgate/domain-contracts';

const CLOSE_TIMEOUT_MS = 5000;

/**
 * Closes a backend and its engine. A connection that hangs goes on to close in the background, so that no response
 * waits for it.
 * @returns why it failed
 */
export async function closeOpened(opened: OpenedBackend, clock: Clock): Promise<string | undefined> {
  const closed = opened.backend
    .close()
    .then(() => opened.close?.())
    .then(() => undefined, messageOf);
  return new Promise((resolve) => {
    const cancel = clock.after(CLOSE_TIMEOUT_MS, () => resolve(`not within ${CLOSE_TIMEOUT_MS / 1000} s`));
    void closed.then((failure) => {
      cancel();
      resolve(failure);
    });
  });
}
