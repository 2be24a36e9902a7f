import { eventIdOf, type JsonObject, signEvent, signJson, SigningKey, signXMatrix } from '@headgate/matrix-protocol';
import { call, type Reply } from './http-client.js';
import { RecordingUpstream } from './recording-upstream.js';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface Transaction {
  uri: string;
  pdus?: unknown[];
  edus?: unknown[];
  /** Signed in place of the sent value. */
  signedUri?: string;
  destination?: string;
  bodyOrigin?: string;
  origin?: string;
}

/** Another homeserver, `a.example`. It publishes its keys and signs its requests. */
export class Peer {
  readonly name = 'a.example';
  readonly key = SigningKey.generate('ed25519:peer');
  readonly oldKey = SigningKey.generate('ed25519:old');
  readonly oldKeyExpired = Date.now() - DAY_MS;

  private constructor(private readonly server: RecordingUpstream) {}

  static async listen(): Promise<Peer> {
    const peer = new Peer(await RecordingUpstream.listen());
    peer.publish();
    return peer;
  }

  /** The configuration with which a server finds this one. */
  get toml(): string {
    return `[federation.peers]\n"${this.name}" = "${this.server.url}"\n`;
  }

  get keyFetches(): number {
    return this.server.countOf('/_matrix/key/v2/server');
  }

  close(): Promise<void> {
    return this.server.close();
  }

  send(url: string, { uri, pdus = [], edus = [], ...odd }: Transaction): Promise<Reply> {
    const { origin = this.name, bodyOrigin = origin, destination, signedUri = uri } = odd;
    const content = { origin: bodyOrigin, origin_server_ts: 1, pdus, edus };
    const Authorization = this.authorization(signedUri, content, { origin, ...(destination && { destination }) });
    return call(url, 'PUT', uri, { body: content, headers: { Authorization } });
  }

  /** The signature of a PUT with this content. */
  authorization(uri: string, content: JsonObject, { origin = this.name, destination = 'b.example' } = {}): string {
    return signXMatrix({ method: 'PUT', uri, origin, destination, content }, this.key);
  }

  /** A signed event of a room on another server. */
  event(roomId: string, event: JsonObject, key = this.key): JsonObject {
    const whole = {
      room_id: roomId,
      sender: `@pia:${this.name}`,
      type: 'm.room.message',
      content: {},
      origin_server_ts: Date.now(),
      depth: 7,
      prev_events: ['$before'],
      auth_events: ['$create'],
      ...event,
    };
    return signEvent(whole, this.name, key);
  }

  join(roomId: string, sender = `@pia:${this.name}`): JsonObject {
    return this.event(roomId, { type: 'm.room.member', state_key: sender, sender, content: { membership: 'join' } });
  }

  private publish(): void {
    const document = {
      server_name: this.name,
      verify_keys: { [this.key.id]: { key: this.key.publicKey } },
      old_verify_keys: { [this.oldKey.id]: { key: this.oldKey.publicKey, expired_ts: this.oldKeyExpired } },
      valid_until_ts: Date.now() + 36_500 * DAY_MS,
    };
    const signed = JSON.stringify(signJson(document, this.name, this.key));
    this.server.respond = (_request, response) => response.end(signed);
  }
}

export const idOf = (event: JsonObject): string => eventIdOf(event);
