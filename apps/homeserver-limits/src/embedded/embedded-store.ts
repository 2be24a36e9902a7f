import { ServerKeys, ServerKeySource } from '@headgate/matrix-protocol';
import type { LiveConfig } from '../config/live-config.js';
import { AccountDataHandlers } from './account-data/account-data.handlers.js';
import { AccountData } from './account-data/account-data.js';
import { DataPositions } from './account-data/data-positions.js';
import { TagHandlers } from './account-data/tags.handlers.js';
import { Tags } from './account-data/tags.js';
import { Accounts } from './accounts/accounts.js';
import { dummyStage, registrationTokenStage } from './accounts/auth-stages.js';
import { EmbeddedIdentity } from './accounts/embedded-identity.js';
import { InteractiveAuth } from './accounts/interactive-auth.js';
import { LoginHandlers } from './accounts/login.handlers.js';
import { PasswordHash } from './accounts/password-hash.js';
import { RegisterHandlers } from './accounts/register.handlers.js';
import { Changes } from './changes.js';
import type { WallClock } from './clock.js';
import { Database } from './database.js';
import { DelayedEventTimer } from './delayed-events/delayed-event-timer.js';
import { DelayedEventHandlers } from './delayed-events/delayed-events.handlers.js';
import { DelayedEvents } from './delayed-events/delayed-events.js';
import { DeviceKeys } from './devices/device-keys.js';
import { KeyHandlers } from './devices/keys.handlers.js';
import { EmbeddedHoldings } from './embedded-holdings.js';
import { EmbeddedHomeserver } from './embedded-homeserver.js';
import { FederationHandlers } from './federation/federation.handlers.js';
import { PeerClient } from './federation/peer-client.js';
import { ReceiveEvents } from './federation/receive-events.js';
import { serverSigningKey } from './federation/server-signing-key.js';
import { FilterHandlers } from './filters/filters.handlers.js';
import { MediaHandlers } from './media/media.handlers.js';
import { Media } from './media/media.js';
import { PusherHandlers } from './push/pushers.handlers.js';
import { Aliases } from './rooms/aliases.js';
import { CreateRoom } from './rooms/create-room.js';
import { DirectoryHandlers } from './rooms/directory.handlers.js';
import { RoomRules } from './rooms/room-rules.js';
import { RoomHandlers } from './rooms/rooms.handlers.js';
import { Rooms } from './rooms/rooms.js';
import { SendHandlers } from './rooms/send.handlers.js';
import { Transactions } from './rooms/transactions.js';
import { OpenIdTokens } from './rtc/openid-tokens.js';
import { RemoteOpenId } from './rtc/remote-openid.js';
import { RtcHandlers } from './rtc/rtc.handlers.js';
import { ServerHandlers } from './server.handlers.js';
import { SyncHandlers } from './sync/sync.handlers.js';

class PeerKeySource extends ServerKeySource {
  constructor(private readonly peers: PeerClient) {
    super();
  }

  override fetch(server: string): Promise<unknown> {
    return this.peers.getJson(server, '/_matrix/key/v2/server');
  }
}

/** Everything of the embedded mode, put together over one database. */
export class EmbeddedStore {
  readonly passwords = new PasswordHash();
  readonly identity: EmbeddedIdentity;
  readonly holdings: EmbeddedHoldings;
  readonly homeserver: EmbeddedHomeserver;
  private readonly db: Database;
  private readonly timer: DelayedEventTimer;

  constructor(config: LiveConfig, dataDir: string, clock: WallClock) {
    const { server, rtc, federation } = config.current;
    const { name } = server;
    const db = Database.open(dataDir);
    const peers = new PeerClient(federation.peers);
    const accounts = new Accounts(db, clock);
    const openId = new OpenIdTokens(db, clock);
    const remoteOpenId = new RemoteOpenId(rtc.trusted_servers, peers, () => clock.now());
    const identity = new EmbeddedIdentity(name, accounts, openId, remoteOpenId);
    const changes = new Changes();
    const rooms = new Rooms(db, clock, changes);
    const rules = new RoomRules(rooms);
    const aliases = new Aliases(db);
    const transactions = new Transactions(db);
    const delayed = new DelayedEvents(db, rooms, rules, clock);
    const { registration_tokens: invitations } = server;
    const stage = invitations.length === 0 ? dummyStage : registrationTokenStage(invitations);
    const positions = new DataPositions(db, changes);
    const data = new AccountData(db, positions);
    const tags = new Tags(db, positions);
    const keys = new DeviceKeys(db);
    const peerKeys = new ServerKeys(new PeerKeySource(peers), { now: () => clock.now() });

    const events = new ReceiveEvents(rooms, rules, peerKeys);

    this.db = db;
    this.identity = identity;
    this.holdings = new EmbeddedHoldings(db, data, keys, delayed, transactions);
    this.timer = new DelayedEventTimer(delayed, clock);
    this.homeserver = new EmbeddedHomeserver([
      new ServerHandlers(rtc, () => config.current.delayed_events, identity),
      new LoginHandlers(name, accounts, identity, this.passwords),
      new RegisterHandlers(name, server.registration, accounts, this.passwords, new InteractiveAuth(stage)),
      new FilterHandlers(db, identity),
      new AccountDataHandlers(data, identity),
      new TagHandlers(tags, identity),
      new PusherHandlers(db, identity),
      new KeyHandlers(name, db, keys, identity),
      new RoomHandlers(rooms, rules, aliases, new CreateRoom(name, db, rooms, rules, aliases), identity),
      new DirectoryHandlers(name, aliases, rooms, identity),
      new SendHandlers(rooms, rules, transactions, delayed, identity),
      new DelayedEventHandlers(delayed, identity),
      new MediaHandlers(name, new Media(db, dataDir, clock), identity),
      new RtcHandlers(name, rtc, openId, rooms, identity, clock),
      new FederationHandlers(name, db, keys, serverSigningKey(db), peerKeys, events, clock),
      new SyncHandlers(rooms, data, tags, positions, keys, changes, identity),
    ]);
  }

  start(): void {
    this.timer.start();
  }

  close(): void {
    this.timer.stop();
    this.db.close();
  }
}
