import type { WebSocket } from 'ws';
import type { ApiClient } from '../client/api-client.js';
import { openConsole } from '../client/console-socket.js';
import { ClientError } from '../client/client-error.js';
import { EXIT_CODES } from '../exit-codes.js';
import { findAddress } from '../instances/find-instance.js';
import { vmExtension, type InstanceAddress } from '../instances/instance.js';

/** The VM whose ports are used, and its identity. @throws ClientError when its ports can not be connected to */
export async function findPorts(api: ApiClient, name: string): Promise<{ address: InstanceAddress; uid: string }> {
  const address = await findAddress(api, name);
  if (address.kind === 'ct')
    throw new ClientError(
      'NOT_SUPPORTED',
      `${address.name} is a container, and only the ports of VMs can be connected to.`,
      EXIT_CODES.refused,
    );
  const { uid } = await api.get(`${vmExtension(address)}/ports`, { query: { context: address.context } });
  return { address, uid };
}

/** Opens a connection to a port of a guest; the socket is paused. @throws ClientError when the service refuses it */
export const openGuestPort = (api: ApiClient, address: InstanceAddress, port: number): Promise<WebSocket> =>
  openConsole(api.http, `${vmExtension(address)}/ports/${port}`, { context: address.context });
