import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { ConfigError } from '../config/config-error.js';
import type { CertificateAndKey } from './edge-adapter.js';

export interface TlsPaths {
  /** A PEM file with the certificate, followed by those of the authorities that signed it. */
  readonly certificate: string;
  /** A PEM file with the private key of the certificate, without a passphrase. */
  readonly key: string;
}

/** A certificate with its key that were found to belong together. */
export interface LoadedCertificate extends CertificateAndKey {
  /** The first certificate of the file. */
  readonly leaf: X509Certificate;
}

/**
 * The files of a server's certificate. Programs that renew certificates replace them while the server runs, one after
 * the other.
 */
export class TlsFiles {
  private loaded: LoadedCertificate;

  /** @throws ConfigError when the files can't be used */
  constructor(
    private readonly paths: TlsPaths,
    private readonly source: string,
  ) {
    this.loaded = this.read();
  }

  /** The pair of files that was valid last. */
  get current(): LoadedCertificate {
    return this.loaded;
  }

  /**
   * Reads the files again.
   * @returns the new pair; undefined when nothing has changed
   * @throws ConfigError when they can't be used; the current pair stays
   */
  reload(): LoadedCertificate | undefined {
    const read = this.read();
    const { cert, key } = this.loaded;
    if (read.cert === cert && read.key === key) return undefined;
    return (this.loaded = read);
  }

  private read(): LoadedCertificate {
    const { certificate, key: keyPath } = this.paths;
    const cert = this.textOf('certificate', certificate);
    const key = this.textOf('key', keyPath);
    const leaf = this.tried(
      `tls.certificate: ${certificate} is not a certificate in PEM`,
      () => new X509Certificate(cert),
    );
    const privateKey = this.tried(`tls.key: ${keyPath} is not a private key in PEM without a passphrase`, () =>
      createPrivateKey(key),
    );
    if (!leaf.checkPrivateKey(privateKey))
      throw this.problem(`tls.key: the key in ${keyPath} does not belong to the certificate in ${certificate}`);
    this.tried(`tls.certificate: TLS can't use ${certificate}`, () => createSecureContext({ cert, key }));
    return { cert, key, leaf };
  }

  private textOf(field: string, path: string): string {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      throw this.problem(`tls.${field}: ${path} can't be read (${(error as NodeJS.ErrnoException).code})`);
    }
  }

  /** The error of the library may quote the file, so it is not passed on. */
  private tried<Value>(problem: string, work: () => Value): Value {
    try {
      return work();
    } catch {
      throw this.problem(problem);
    }
  }

  private problem(text: string): ConfigError {
    return new ConfigError(this.source, [text]);
  }
}
