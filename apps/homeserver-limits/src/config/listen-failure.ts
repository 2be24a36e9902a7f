import { ConfigError } from '@headgate/nest-kit';

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another program; choose another',
  EACCES: 'is not permitted; choose a port above 1023',
  EADDRNOTAVAIL: 'is not an address of this machine; choose another',
  ENOTFOUND: 'is not a known host; choose another',
};

/**
 * Rejects for a known cause with one sentence that names the setting, and otherwise with the error itself.
 * @param setting such as `server.listen`
 * @throws ConfigError
 */
export async function explainListenFailure<Result>(
  setting: string,
  address: string,
  listening: Promise<Result>,
): Promise<Result> {
  try {
    return await listening;
  } catch (error) {
    const reason = REASONS[(error as NodeJS.ErrnoException).code ?? ''];
    if (reason === undefined) throw error;
    throw new ConfigError('configuration', [`${setting}: ${address} ${reason}`], { cause: error });
  }
}
