import { ValidateBy, type ValidationOptions } from 'class-validator';

const HOST_AND_PORT = /^(?:\[([0-9a-fA-F:]+)\]|([^\s:]+)):(\d{1,5})$/;
const MAX_PORT = 65_535;
const LOOPBACK = /^(?:localhost|127\.[0-9.]+|::1)$/;
const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** The address of a listener, written HOST:PORT; an IPv6 address is in brackets. Port 0 is a free port. */
export class ListenAddress {
  private constructor(
    /** A name or an address, without brackets. */
    readonly host: string,
    readonly port: number,
  ) {}

  /** @throws RangeError */
  static parse(text: string): ListenAddress {
    const [, ipv6, host = ipv6, port] = HOST_AND_PORT.exec(text) ?? [];
    if (host === undefined || Number(port) > MAX_PORT) {
      throw new RangeError(`"${text}" is not HOST:PORT, such as 127.0.0.1:8006`);
    }
    return new ListenAddress(host, Number(port));
  }

  static isValid(text: unknown): text is string {
    const port = typeof text === 'string' ? HOST_AND_PORT.exec(text)?.[3] : undefined;
    return port !== undefined && Number(port) <= MAX_PORT;
  }

  /** Whether only this machine can reach it. */
  get isLoopback(): boolean {
    return LOOPBACK.test(this.host);
  }

  /** Whether it listens on every address of the machine, so that it has no name of its own. */
  get isWildcard(): boolean {
    return WILDCARDS.has(this.host);
  }

  /** The host as a URL and a Host header write it. */
  get urlHost(): string {
    return this.host.includes(':') ? `[${this.host}]` : this.host;
  }

  /** Where a client on this machine reaches it. */
  urlOn(port = this.port, scheme: 'http' | 'https' = 'http'): string {
    return `${scheme}://${this.isWildcard ? '127.0.0.1' : this.urlHost}:${port}`;
  }

  toString(): string {
    return `${this.urlHost}:${this.port}`;
  }
}

/** A field of a configuration section that holds a listen address. */
export const IsListenAddress = (options?: ValidationOptions): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isListenAddress',
      validator: {
        validate: (value: unknown) => ListenAddress.isValid(value),
        defaultMessage: (args) => `${args?.property} must be HOST:PORT, such as 127.0.0.1:8006`,
      },
    },
    options,
  );
