import 'reflect-metadata';
import {
  mergeSettings,
  SettingError,
  type AddedKind,
  type BackendDeps,
  type DiagnosticCheck,
  type SettingsChange,
} from '@headgate/domain-contracts';
import { IsOptional, Matches, MaxLength } from 'class-validator';
import { identityFileOf } from './api/identity-file.js';
import { parseAddress } from './api/server-target.js';
import { parseTrustToken } from './api/trust-token.js';
import { LOCAL_SOCKETS } from './discover-incus.js';
import { openIncus, targetOf } from './open-incus.js';

/** The settings of an Incus or LXD server that an administrator adds. */
export class AddedIncusSettings {
  /** The unix socket of a daemon on this machine. The configuration says which ones may be named. */
  @IsOptional() @MaxLength(1000) @Matches(/^\//, { message: '$property must be an absolute path' }) socket?: string;
  /** The URL of a server on the network, in place of a socket. */
  @IsOptional()
  @MaxLength(300)
  @Matches(/^https:\/\/[^\s@#?/]+\/?$/, { message: '$property must be a URL such as https://host:8443' })
  address?: string;
  /**
   * SHA-256 of the certificate of the server; by default that in the trust token. Without both, an authority that the
   * machine of the service trusts must have signed it.
   */
  @IsOptional()
  @Matches(/^[0-9a-fA-F]{64}$/, { message: '$property must be 64 hexadecimal digits' })
  fingerprint?: string;
  /** A token of `incus config trust add`. The server accepts it once, when the context is added. */
  @IsOptional()
  @MaxLength(4096)
  @Matches(/^[A-Za-z0-9+/=_-]+$/, { message: '$property must be a token' })
  trustToken?: string;
  /** The only project of this context; by default all that the server shows. */
  @IsOptional()
  @MaxLength(100)
  @Matches(/^[^\s/?&]+$/, { message: '$property must be the name of a project' })
  project?: string;
}

export const addedIncus: AddedKind<AddedIncusSettings> = {
  settings: AddedIncusSettings,
  usualPaths: LOCAL_SOCKETS.map(({ path }) => path),
  reduce: (context, { socket, address, fingerprint, trustToken, project }) => {
    if (socket === undefined && address === undefined) {
      throw new SettingError(context, 'socket or address must be given');
    }
    expectUrl(context, address);
    // Refuses what does not fit together.
    targetOf(context, { socket, address, fingerprint, trustToken }, '');
    return {
      ...(socket !== undefined && { socket }),
      ...(address !== undefined && { address }),
      ...(fingerprint !== undefined && { fingerprint: fingerprint.toLowerCase() }),
      ...(trustToken !== undefined && { trustToken }),
      ...(project !== undefined && { project }),
    };
  },
  merge: mergeIncus,
  engineOf: ({ socket, address, project }) => JSON.stringify([socket, address, project]),
  // The fingerprint in the token goes on to be expected.
  withoutUsedSecrets: ({ trustToken, ...settings }) => {
    const fingerprint = settings.fingerprint ?? fingerprintIn(trustToken);
    return { ...settings, ...(fingerprint !== undefined && { fingerprint }) };
  },
  identityFile: identityFileOf,
  targets: ({ socket, address }) => [
    ...(socket === undefined ? [] : [{ path: socket }]),
    ...(address === undefined ? [] : [parseAddress(address)]),
  ],
  describe: ({ socket, address, fingerprint, project }) => ({
    ...(socket !== undefined && { socket }),
    ...(address !== undefined && { address }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(project !== undefined && { project }),
  }),
  open: (deps) => openIncus(deps),
  probe: async (deps) => (deps.settings.trustToken === undefined ? undefined : probeWithToken(deps)),
};

/**
 * The key of the service never leaves it, so only a token that was not used yet is kept from another server. A new
 * token brings its own fingerprint, and a socket has neither.
 */
function mergeIncus(
  context: string,
  before: Readonly<AddedIncusSettings>,
  change: SettingsChange,
): Record<string, unknown> {
  const isGiven = (key: keyof AddedIncusSettings): boolean => typeof change[key] === 'string';
  const { socket, address, fingerprint, trustToken, project } = before;
  if (isGiven('socket') && !isGiven('address')) return mergeSettings({ socket, project }, change);
  const kept = {
    address,
    project,
    ...(!isGiven('address') && { socket }),
    ...(!isGiven('trustToken') && { fingerprint, trustToken }),
  };
  const merged = mergeSettings(kept, change);
  const isElsewhere =
    merged['address'] !== address || String(merged['fingerprint']).toLowerCase() !== String(fingerprint);
  if (!isGiven('trustToken') && merged['trustToken'] !== undefined && isElsewhere) {
    throw new SettingError(
      context,
      'trustToken must be given again with another address or fingerprint, because it was not used yet',
    );
  }
  return merged;
}

const fingerprintIn = (trustToken: string | undefined): string | undefined =>
  trustToken === undefined ? undefined : parseTrustToken(trustToken)?.fingerprint;

function expectUrl(context: string, address: string | undefined): void {
  try {
    if (address !== undefined) new URL(address);
  } catch {
    throw new SettingError(context, 'address must be a URL such as https://host:8443');
  }
}

/** The server accepts a token once, so the check only connects, and compares the certificate. */
async function probeWithToken({
  context,
  settings: { trustToken: _trustToken, ...settings },
  clock,
  dataDir,
}: BackendDeps<AddedIncusSettings>): Promise<readonly DiagnosticCheck[]> {
  const [{ ClientIdentity }, { IncusConnection }] = await Promise.all([
    import('./api/client-identity.js'),
    import('./api/incus-connection.js'),
  ]);
  const target = targetOf(context, { ...settings, trustToken: _trustToken }, '');
  const connection = new IncusConnection(context, target, new ClientIdentity(dataDir, () => clock.now()), clock);
  try {
    const response = await connection.request('GET', '/1.0');
    response.resume();
    const message = 'The server answers with the expected certificate. The token is used when the context is added.';
    return [{ name: 'server', status: 'ok', message, fixable: false, remedy: '' }];
  } catch (error) {
    const { message } = connection.translate(error);
    const remedy = 'Correct the address, or create another token with `incus config trust add`.';
    return [{ name: 'server', status: 'error', message, fixable: false, remedy }];
  } finally {
    connection.close();
  }
}
