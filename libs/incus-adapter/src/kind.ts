import { SettingError, type BackendKind } from '@headgate/domain-contracts';
import { parseAddress, type ServerTarget } from './api/server-target.js';
import { parseTrustToken } from './api/trust-token.js';
import { discoverIncus, findLocalSocket, LOCAL_SOCKETS } from './discover-incus.js';
import { IncusSettings, type ImageRemoteSettings } from './incus-settings.js';
import { INCUS_TRAITS } from './incus-traits.js';
import type { ImageRemote } from './engine/image-remote.js';

export type { IncusSettings };

/** A server of Incus or LXD, on this machine or on the network. */
export const incusKind: BackendKind<IncusSettings> = {
  traits: INCUS_TRAITS,
  settings: IncusSettings,
  open: async ({ context, settings, dataDir, clock, log, mayWrite }) => {
    const { project, pool, imageServers = [], clientCertificate, clientKey } = settings;
    if ((clientCertificate === undefined) !== (clientKey === undefined)) {
      throw new SettingError(context, 'clientCertificate and clientKey must be given together');
    }
    const target = await targetOf(context, settings);
    // Loaded only here, so that a service without this engine starts faster and stays smaller.
    const { IncusBackend } = await import('./incus-backend.js');
    const backend = IncusBackend.open({
      context,
      target,
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
  },
  discover: () => discoverIncus(),
};

const remoteOf = ({ name, url, protocol = 'simplestreams' }: ImageRemoteSettings): [string, ImageRemote] => [
  name,
  { url, protocol },
];

/** @throws SettingError */
async function targetOf(context: string, settings: IncusSettings): Promise<ServerTarget> {
  const { socket, address, fingerprint, trustToken } = settings;
  if (address === undefined) {
    if (fingerprint !== undefined || trustToken !== undefined) {
      throw new SettingError(context, 'fingerprint and trustToken need address, the URL of a server on the network');
    }
    const [{ path: usual }] = LOCAL_SOCKETS;
    return { kind: 'socket', path: socket ?? (await findLocalSocket())?.path ?? usual };
  }
  if (socket !== undefined) throw new SettingError(context, 'socket and address must not be given together');
  const token = trustToken === undefined ? undefined : parseTrustToken(trustToken);
  if (trustToken !== undefined && !token) {
    throw new SettingError(context, 'trustToken must be a token of `incus config trust add`');
  }
  return { kind: 'https', ...parseAddress(address), fingerprint: fingerprint ?? token?.fingerprint, trustToken };
}
