import { SettingError, type BackendDeps, type OpenedBackend } from '@headgate/domain-contracts';
import { parseAddress, type ServerTarget } from './api/server-target.js';
import { parseTrustToken } from './api/trust-token.js';
import { findLocalSocket, LOCAL_SOCKETS } from './discover-incus.js';
import type { ImageRemote } from './engine/image-remote.js';
import type { ImageRemoteSettings, IncusSettings } from './incus-settings.js';

/** @throws SettingError */
export async function openIncus({
  context,
  settings,
  dataDir,
  clock,
  log,
  mayWrite,
}: BackendDeps<IncusSettings>): Promise<OpenedBackend> {
  const { project, pool, imageServers = [], clientCertificate, clientKey } = settings;
  if ((clientCertificate === undefined) !== (clientKey === undefined)) {
    throw new SettingError(context, 'clientCertificate and clientKey must be given together');
  }
  const [{ path: usual }] = LOCAL_SOCKETS;
  const target = targetOf(context, settings, usual);
  const isLocal = settings.socket === undefined && target.kind === 'socket';
  // Loaded only here, so that a service without this engine starts faster and stays smaller.
  const { IncusBackend } = await import('./incus-backend.js');
  const backend = IncusBackend.open({
    context,
    target: isLocal ? { kind: 'socket', path: (await findLocalSocket())?.path ?? usual } : target,
    dataDir,
    clock,
    log,
    mayWrite,
    project,
    pool,
    remotes: new Map(imageServers.map(remoteOf)),
    identity:
      clientCertificate === undefined || clientKey === undefined
        ? undefined
        : { certificate: clientCertificate, key: clientKey },
  });
  return { backend };
}

const remoteOf = ({ name, url, protocol = 'simplestreams' }: ImageRemoteSettings): [string, ImageRemote] => [
  name,
  { url, protocol },
];

/**
 * @param usual the socket when the settings name neither a socket nor an address
 * @throws SettingError for settings that don't fit together
 */
export function targetOf(
  context: string,
  { socket, address, fingerprint, trustToken }: IncusSettings,
  usual: string,
): ServerTarget {
  if (address === undefined) {
    if (fingerprint !== undefined || trustToken !== undefined) {
      throw new SettingError(context, 'fingerprint and trustToken need address, the URL of a server on the network');
    }
    return { kind: 'socket', path: socket ?? usual };
  }
  if (socket !== undefined) throw new SettingError(context, 'socket and address must not be given together');
  const token = trustToken === undefined ? undefined : parseTrustToken(trustToken);
  if (trustToken !== undefined && !token) {
    throw new SettingError(context, 'trustToken must be a token of `incus config trust add`');
  }
  return { kind: 'https', ...parseAddress(address), fingerprint: fingerprint ?? token?.fingerprint, trustToken };
}
