import { DomainError, formatBytes, messageOf, type Clock } from '@headgate/domain-contracts';
import { httpGet, type EgressPolicy } from '@headgate/downloads';
import type { Download } from '@headgate/plugins';

/** Downloads of plugins and indexes, to the addresses that imports may connect to. */
export const pluginDownloads =
  (egress: EgressPolicy, clock: Clock): Download =>
  async (url, { maxBytes, signal }) => {
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
      throw new DomainError(
        'INVALID_PLUGIN',
        `Plugins are downloaded from http and https URLs only, not ${url.protocol}`,
      );
    const { body } = await httpGet({ egress, clock }, url, { signal }).catch((error: unknown) => {
      throw error instanceof DomainError
        ? error
        : new DomainError('BACKEND_FAILED', `${messageOf(error)}.`, { cause: error });
    });
    const chunks: Buffer[] = [];
    let received = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      received += chunk.length;
      if (received > maxBytes)
        throw new DomainError('INVALID_PLUGIN', `${url.host} sent more than ${formatBytes(maxBytes)}.`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  };

/**
 * Checks that images may be pulled from a registry. podman resolves the name again, so this does not stop an attacker
 * who controls its DNS.
 * @throws DomainError INVALID_SOURCE
 */
export const registryCheck =
  (egress: EgressPolicy) =>
  async (host: string): Promise<void> => {
    const url = URL.parse(`https://${host}/`);
    if (!url) throw new DomainError('INVALID_SOURCE', `${host} is not the name of a registry.`);
    egress.checkLiteral(url);
    await new Promise<void>((resolve, reject) =>
      egress.lookupFor(url)(url.hostname.replace(/^\[|\]$/g, ''), { all: true }, (error) =>
        error ? reject(toDomainError(error, host)) : resolve(),
      ),
    );
  };

const toDomainError = (error: Error, host: string): DomainError =>
  error instanceof DomainError
    ? error
    : new DomainError('INVALID_SOURCE', `The registry ${host} can't be found: ${error.message}.`, { cause: error });
