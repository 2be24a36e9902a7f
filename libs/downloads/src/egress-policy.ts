import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { DomainError } from '@headgate/domain-contracts';

/** Ranges that are not on the public internet. Source: https://www.iana.org/assignments/iana-ipv4-special-registry */
const PRIVATE_IPV4 = [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24',
  '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24',
  '224.0.0.0/4', '240.0.0.0/4',
]; // prettier-ignore

/** The same for IPv6, including the ranges that embed an IPv4 address. */
const PRIVATE_IPV6 = [
  '::/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20',
  '5f00::/16', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8',
]; // prettier-ignore

/** A host name, or any host with a port. An address without a port is a range of one. */
const HOST =
  /^(?:(?![\d.]+$)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\]):\d{1,5})$/i;

type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface EgressOptions {
  /** Exceptions: addresses, ranges such as `10.0.0.0/8`, and hosts such as `mirror.lan` or `mirror.lan:5000`. */
  readonly allow?: readonly string[];
  /** The setting with the exceptions, for refusals. */
  readonly setting?: string;
  readonly resolve?: Resolve;
  /** The addresses of this machine. */
  readonly ownAddresses?: () => readonly string[];
}

/**
 * The addresses to which downloads may connect. The service downloads from URLs that its users choose, so private
 * ranges and the machine itself are refused unless the operator allows them. The check is part of the connection: it
 * applies to the address that is connected to, so a name that resolves differently the second time gains nothing.
 */
export class EgressPolicy {
  private readonly refused = new BlockList();
  private readonly allowed = new BlockList();
  private readonly allowedHosts = new Set<string>();
  private readonly setting: string;
  private readonly resolve: Resolve;
  private readonly ownAddresses: () => readonly string[];

  /** @throws DomainError INVALID_INPUT for an exception that is not an address, a range or a host name */
  constructor({
    allow = [],
    setting = 'SVC_IMPORT_ALLOW',
    resolve = resolveAll,
    ownAddresses = addressesOfThisMachine,
  }: EgressOptions = {}) {
    for (const range of [...PRIVATE_IPV4, ...PRIVATE_IPV6]) addRange(this.refused, range);
    for (const entry of allow) {
      if (isRange(entry)) addRange(this.allowed, entry);
      else if (HOST.test(entry)) this.allowedHosts.add(entry.toLowerCase());
      else {
        throw new DomainError(
          'INVALID_INPUT',
          `${entry} is not an address, a range such as 10.0.0.0/8, or a host such as mirror.lan:5000.`,
        );
      }
    }
    this.setting = setting;
    this.resolve = resolve;
    this.ownAddresses = ownAddresses;
  }

  /** Whether a connection to an address is allowed. */
  isAllowed(address: string): boolean {
    const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
    const plain = mapped ?? address.split('%')[0] ?? address;
    const family = isIP(plain);
    if (family === 0) return false;
    const type = family === 4 ? 'ipv4' : 'ipv6';
    if (this.allowed.check(plain, type)) return true;
    return !this.refused.check(plain, type) && !isMapped(plain) && !this.ownAddresses().includes(plain);
  }

  /**
   * Checks a URL whose host is an address, for which no lookup takes place.
   * @throws DomainError INVALID_SOURCE
   */
  checkLiteral(url: URL): void {
    const address = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(address) !== 0 && !this.isTrusted(url) && !this.isAllowed(address)) throw this.refusal(url.hostname);
  }

  /** The `lookup` of a connection: resolves the name to those of its addresses that are allowed. */
  lookupFor(url: URL): LookupFunction {
    const isTrusted = this.isTrusted(url);
    return (hostname, options, callback) => {
      this.resolve(hostname).then(
        (addresses) => {
          const usable = addresses.filter(
            ({ address, family }) =>
              (isTrusted || this.isAllowed(address)) && (!options.family || Number(options.family) === family),
          );
          const [first] = usable;
          if (!first) return callback(this.refusal(hostname), '', 0);
          if (options.all) return callback(null, [...usable]);
          return callback(null, first.address, first.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, '', 0),
      );
    };
  }

  private refusal(host: string): DomainError {
    return new DomainError(
      'INVALID_SOURCE',
      `${host} is a private address, or one of this machine. An administrator can allow it in ${this.setting}.`,
    );
  }

  private isTrusted({ hostname, port, protocol }: URL): boolean {
    const effectivePort = port || (protocol === 'https:' ? '443' : '80');
    return this.allowedHosts.has(hostname) || this.allowedHosts.has(`${hostname}:${effectivePort}`);
  }
}

const resolveAll: Resolve = (hostname) =>
  new Promise((resolve, reject) =>
    dnsLookup(hostname, { all: true, verbatim: true }, (error, addresses) =>
      error ? reject(error) : resolve(addresses),
    ),
  );

const addressesOfThisMachine = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));

/** IPv4 addresses in IPv6 notation that are written in another way than with dots. */
const isMapped = (address: string): boolean => /^(?:0{0,4}:){0,5}:?ffff:/i.test(address);

function isRange(entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

function addRange(list: BlockList, range: string): void {
  const [address = '', prefix] = range.split('/');
  const type = isIPv4(address) ? 'ipv4' : 'ipv6';
  if (prefix === undefined) list.addAddress(address, type);
  else list.addSubnet(address, Number(prefix), type);
}
