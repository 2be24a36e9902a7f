import { ServerKeySource } from '@headgate/matrix-protocol';
import type { PeerClient } from '../peers/peer-client.js';

/** Fetches the key documents of peers from the peers themselves. */
export class PeerKeySource extends ServerKeySource {
  constructor(private readonly peers: PeerClient) {
    super();
  }

  override fetch(server: string): Promise<unknown> {
    return this.peers.getJson(server, '/_matrix/key/v2/server');
  }
}
