import { lookup } from 'node:dns/promises';
import { realpathSync } from 'node:fs';
import { BlockList, connect, isIP } from 'node:net';
import { normalize, sep } from 'node:path';
import { DomainError, messageOf, type AddedKind, type Clock, type ContextTarget } from '@headgate/domain-contracts';

/**
 * Addresses that no engine has: this network, link-local ones (the metadata of clouds), multicast and reserved ones,
 * and the metadata of clouds in other ranges.
 */
const REFUSED_RANGES = [
  ['0.0.0.0', 8], ['169.254.0.0', 16], ['192.0.0.0', 24], ['224.0.0.0', 3],
  ['100.100.100.200', 32], ['::', 128], ['fe80::', 10], ['fec0::', 10], ['ff00::', 8], ['fd00:ec2::', 32], ['64:ff9b::', 96],
] as const; // prettier-ignore

const CONNECT_TIMEOUT_MS = 5000;

const refused = new BlockList();
for (const [address, prefix] of REFUSED_RANGES)
  refused.addSubnet(address, prefix, isIP(address) === 4 ? 'ipv4' : 'ipv6');

/** Whether an address is one that no context may lead to. Addresses of IPv4 in the notation of IPv6 count as such. */
export function isRefusedAddress(address: string): boolean {
  const [plain = ''] = address.split('%');
  const family = isIP(plain);
  return family === 0 || refused.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}

/** The files and the hosts that added contexts may lead to. */
export class ContextTargets {
  /** @param paths files, sockets and folders that the configuration allows */
  constructor(
    private readonly paths: readonly string[],
    private readonly clock: Clock,
    private readonly resolve: typeof lookup = lookup,
  ) {}

  /** @throws DomainError INVALID_INPUT for a file or socket that the configuration does not allow */
  expectPaths(targets: readonly ContextTarget[], { usualPaths }: Pick<AddedKind, 'usualPaths'>): void {
    const allowed = [...usualPaths, ...this.paths].map(realPath);
    for (const target of targets) {
      if (!('path' in target)) continue;
      const path = realPath(target.path);
      if (allowed.some((one) => path === one || path.startsWith(one.endsWith(sep) ? one : one + sep))) continue;
      throw new DomainError(
        'INVALID_INPUT',
        `${target.path} must be one of the files, sockets or folders that the configuration allows in addedContexts.paths.`,
      );
    }
  }

  /**
   * Connects to a host and closes the connection; sends nothing.
   * @returns the addresses of the host
   * @throws DomainError INVALID_INPUT for an address that no context may lead to, BACKEND_UNREACHABLE
   */
  async dial({ host, port }: Extract<ContextTarget, { host: string }>): Promise<readonly string[]> {
    const addresses = await this.addressesOf(host);
    const bad = addresses.find(isRefusedAddress);
    if (bad !== undefined) {
      const message = `${host} has the address ${bad}, to which no context may lead: it is link-local, reserved or for multicast.`;
      throw new DomainError('INVALID_INPUT', message);
    }
    // An address that was checked, so that a name that resolves differently the second time gains nothing here.
    await this.connect(addresses[0] ?? host, host, port);
    return addresses;
  }

  private async addressesOf(host: string): Promise<string[]> {
    if (isIP(host) !== 0) return [host];
    try {
      return (await this.resolve(host, { all: true })).map(({ address }) => address);
    } catch (error) {
      const { code = messageOf(error) } = error as NodeJS.ErrnoException;
      throw new DomainError('BACKEND_UNREACHABLE', `The name ${host} can't be resolved (${code}).`, { cause: error });
    }
  }

  private connect(address: string, host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: address, port });
      const end = (failure?: string): void => {
        cancel();
        socket.destroy();
        if (failure === undefined) resolve();
        else reject(new DomainError('BACKEND_UNREACHABLE', `${host}:${port} ${failure}.`));
      };
      const cancel = this.clock.after(CONNECT_TIMEOUT_MS, () =>
        end(`does not accept a connection within ${CONNECT_TIMEOUT_MS / 1000} seconds`),
      );
      socket.once('connect', () => end());
      socket.on('error', ({ code = 'an error' }: NodeJS.ErrnoException) =>
        end(`does not accept a connection (${code})`),
      );
    });
  }
}

/** The path without links; that of a file that does not exist is only normalized. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return normalize(path);
  }
}
