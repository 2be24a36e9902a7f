import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** An account at an authority. */
export interface AcmeAccount {
  /** In PEM. */
  readonly key: string;
  readonly url: string;
  readonly email?: string | undefined;
}

/** How the last attempts to get a certificate went. */
export interface RenewalState {
  /** Attempts since the last certificate. */
  readonly failures: number;
  /** In ISO 8601. */
  readonly nextAttemptAt: string;
  readonly problem: string;
  /** The settings of the attempts. With others, there is nothing to wait for. */
  readonly settings: string;
}

/** The keys, the certificate and the state of an ACME client, in a folder that only the service can read. */
export class AcmeFiles {
  /** The certificate with its chain and its key, in one file, which is replaced at once. */
  readonly certificate: string;

  /** Creates the folder. */
  constructor(private readonly folder: string) {
    this.certificate = join(folder, 'certificate.pem');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  }

  /** @returns undefined before the first certificate */
  readCertificate(): string | undefined {
    return read(this.certificate);
  }

  writeCertificate(text: string): void {
    this.write('certificate.pem', text);
  }

  /** Each directory has an account of its own, so that authorities can't recognize it. */
  readAccount(directory: string): AcmeAccount | undefined {
    try {
      const { key, url, email } = JSON.parse(read(join(this.folder, accountFile(directory))) ?? '') as AcmeAccount;
      return typeof key === 'string' && typeof url === 'string' ? { key, url, email } : undefined;
    } catch {
      return undefined;
    }
  }

  writeAccount(directory: string, account: AcmeAccount): void {
    this.write(accountFile(directory), JSON.stringify(account));
  }

  deleteAccount(directory: string): void {
    rmSync(join(this.folder, accountFile(directory)), { force: true });
  }

  /** @returns undefined without attempts, or if the file is damaged */
  readState(): RenewalState | undefined {
    try {
      const { failures, nextAttemptAt, problem, settings } = JSON.parse(
        read(join(this.folder, 'state.json')) ?? '',
      ) as RenewalState;
      const isWhole = Number.isInteger(failures) && failures >= 0 && Number.isFinite(Date.parse(nextAttemptAt));
      return isWhole ? { failures, nextAttemptAt, problem: String(problem), settings: String(settings) } : undefined;
    } catch {
      return undefined;
    }
  }

  writeState(state: RenewalState): void {
    this.write('state.json', JSON.stringify(state));
  }

  /** A crash leaves the old file or the new one. */
  private write(name: string, text: string): void {
    const [path, next] = [join(this.folder, name), join(this.folder, `${name}.next`)];
    const file = openSync(next, 'w', 0o600);
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    chmodSync(next, 0o600);
    renameSync(next, path);
  }
}

const accountFile = (directory: string): string =>
  `account-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}.json`;

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
