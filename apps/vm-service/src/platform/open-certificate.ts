import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AcmeFiles, createPlaceholder, type AcmeSettings } from '@headgate/acme';
import { ConfigError, TlsFiles } from '@headgate/nest-kit';
import type { Settings } from '../config/load-config.js';
import type { AcmeSection } from '../config/tls-section.js';

/** The certificate of the service; nothing for plain HTTP. */
export interface OpenedCertificate {
  readonly tls?: TlsFiles | undefined;
  /** If the service requests it itself. */
  readonly acme?: { readonly files: AcmeFiles; readonly settings: AcmeSettings } | undefined;
}

const SOURCE = 'the configuration';

/** @throws ConfigError when files of the configuration can't be used */
export async function openCertificate({ tls, dataDir }: Pick<Settings, 'tls' | 'dataDir'>): Promise<OpenedCertificate> {
  if (!tls) return {};
  const { certificate = '', key = '', acme } = tls;
  if (!acme) return { tls: new TlsFiles({ certificate, key }, SOURCE) };
  const settings = readSettings(acme);
  const files = new AcmeFiles(join(dataDir, 'acme'));
  return { tls: await openOwn(files, acme.domains[0] ?? ''), acme: { files, settings } };
}

/** The last certificate. Without a usable one, the service starts with one that no client accepts, and requests one. */
async function openOwn(files: AcmeFiles, domain: string): Promise<TlsFiles> {
  const open = (): TlsFiles => new TlsFiles({ certificate: files.certificate, key: files.certificate }, SOURCE);
  if (files.readCertificate() !== undefined) {
    try {
      return open();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
    }
  }
  files.writeCertificate(await createPlaceholder(domain));
  return open();
}

function readSettings({ directory, email, domains, challenge, externalAccount, caFile }: AcmeSection): AcmeSettings {
  return {
    directory,
    email,
    domains,
    challenge,
    externalAccount: externalAccount && {
      keyId: externalAccount.keyId,
      key: readText('tls.acme.externalAccount.keyFile', externalAccount.keyFile),
    },
    trusted: caFile === undefined ? undefined : readText('tls.acme.caFile', caFile),
  };
}

function readText(field: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(SOURCE, [`${field}: ${file} can't be read (${(error as NodeJS.ErrnoException).code})`]);
  }
  if (text === '') throw new ConfigError(SOURCE, [`${field}: ${file} is empty`]);
  return text;
}
