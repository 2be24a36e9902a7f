import { Directory, Holdings, Homeserver, Identity } from '@headgate/homeserver-contracts';
import { ServerKeys, SigningKey } from '@headgate/matrix-protocol';
import { type DynamicModule, type FactoryProvider, Module } from '@nestjs/common';
import { AccountDataHandlers } from './account-data/account-data.handlers.js';
import { AccountData } from './account-data/account-data.js';
import { DataPositions } from './account-data/data-positions.js';
import { TagHandlers } from './account-data/tags.handlers.js';
import { Tags } from './account-data/tags.js';
import { Accounts } from './accounts/accounts.js';
import { authStageFor } from './accounts/auth-stages.js';
import { EmbeddedIdentity } from './accounts/embedded-identity.js';
import { InteractiveAuth } from './accounts/interactive-auth.js';
import { LoginHandlers } from './accounts/login.handlers.js';
import { OpenIdTokens } from './accounts/openid-tokens.js';
import { PasswordHash } from './accounts/password-hash.js';
import { RegisterHandlers } from './accounts/register.handlers.js';
import { Changes } from './changes.js';
import { SystemClock, Clock } from '@headgate/clock';
import { Database } from './database.js';
import { DelayedEventTimer } from './delayed-events/delayed-event-timer.js';
import { DelayedEventHandlers } from './delayed-events/delayed-events.handlers.js';
import { DelayedEvents } from './delayed-events/delayed-events.js';
import { DeviceKeys } from './devices/device-keys.js';
import { KeyHandlers } from './devices/keys.handlers.js';
import { EmbeddedHoldings } from './embedded-holdings.js';
import { EmbeddedHomeserver } from './embedded-homeserver.js';
import { EmbeddedOptions } from './embedded-options.js';
import { FederationHandlers } from './federation/federation.handlers.js';
import { PeerKeySource } from './federation/peer-key-source.js';
import { ReceiveEvents } from './federation/receive-events.js';
import { serverSigningKey } from './federation/server-signing-key.js';
import { FilterHandlers } from './filters/filters.handlers.js';
import type { Handlers } from './handlers.js';
import { MediaHandlers } from './media/media.handlers.js';
import { Media } from './media/media.js';
import { PeerClient } from './peers/peer-client.js';
import { RemoteOpenId } from './peers/remote-openid.js';
import { PusherHandlers } from './push/pushers.handlers.js';
import { Aliases } from './rooms/aliases.js';
import { CreateRoom } from './rooms/create-room.js';
import { DirectoryHandlers } from './rooms/directory.handlers.js';
import { EmbeddedDirectory } from './rooms/embedded-directory.js';
import { RoomRules } from './rooms/room-rules.js';
import { RoomHandlers } from './rooms/rooms.handlers.js';
import { Rooms } from './rooms/rooms.js';
import { RtcHandlers } from './rtc/rtc.handlers.js';
import { SendHandlers } from './sending/send.handlers.js';
import { Transactions } from './sending/transactions.js';
import { ServerHandlers } from './server.handlers.js';
import { SyncHandlers } from './sync/sync.handlers.js';

/** One class per area of the API; together they answer every operation of the embedded homeserver. */
const HANDLERS = [
  ServerHandlers,
  LoginHandlers,
  RegisterHandlers,
  FilterHandlers,
  AccountDataHandlers,
  TagHandlers,
  PusherHandlers,
  KeyHandlers,
  RoomHandlers,
  DirectoryHandlers,
  SendHandlers,
  DelayedEventHandlers,
  MediaHandlers,
  RtcHandlers,
  FederationHandlers,
  SyncHandlers,
];

const STORES = [Accounts, AccountData, DataPositions, Tags, DeviceKeys, Aliases, Transactions, DelayedEvents, Rooms];

export interface EmbeddedHomeserverAsyncOptions {
  readonly inject: FactoryProvider['inject'];
  readonly useFactory: FactoryProvider<EmbeddedOptions>['useFactory'];
}

/**
 * The embedded homeserver as a Nest module. It provides the ports `Homeserver`, `Identity`, `Directory` and `Holdings`,
 * opens its database when it is created and closes it when the application shuts down.
 */
@Module({})
export class EmbeddedHomeserverModule {
  static registerAsync({ inject, useFactory }: EmbeddedHomeserverAsyncOptions): DynamicModule {
    return {
      module: EmbeddedHomeserverModule,
      providers: [
        { provide: EmbeddedOptions, useFactory, inject },
        { provide: Clock, useClass: SystemClock },
        {
          provide: Database,
          useFactory: ({ dataDir }: EmbeddedOptions) => Database.open(dataDir),
          inject: [EmbeddedOptions],
        },
        {
          provide: PeerClient,
          useFactory: ({ peers }: EmbeddedOptions) => new PeerClient(peers),
          inject: [EmbeddedOptions],
        },
        {
          provide: RemoteOpenId,
          useFactory: ({ trustedServers }: EmbeddedOptions, peers: PeerClient) =>
            new RemoteOpenId(trustedServers, peers),
          inject: [EmbeddedOptions, PeerClient],
        },
        {
          provide: InteractiveAuth,
          useFactory: ({ registrationTokens }: EmbeddedOptions) =>
            new InteractiveAuth(authStageFor(registrationTokens)),
          inject: [EmbeddedOptions],
        },
        { provide: SigningKey, useFactory: serverSigningKey, inject: [Database] },
        {
          provide: ServerKeys,
          useFactory: (peers: PeerClient, clock: Clock) =>
            new ServerKeys(new PeerKeySource(peers), { now: () => clock.now() }),
          inject: [PeerClient, Clock],
        },
        {
          provide: Media,
          useFactory: ({ dataDir }: EmbeddedOptions, db: Database, clock: Clock) => new Media(db, dataDir, clock),
          inject: [EmbeddedOptions, Database, Clock],
        },
        ...STORES,
        ...HANDLERS,
        ...[Changes, CreateRoom, DelayedEventTimer, OpenIdTokens, PasswordHash, ReceiveEvents, RoomRules],
        ...[EmbeddedIdentity, EmbeddedHoldings],
        {
          provide: EmbeddedHomeserver,
          useFactory: (...areas: Handlers[]) => new EmbeddedHomeserver(areas),
          inject: HANDLERS,
        },
        { provide: Homeserver, useExisting: EmbeddedHomeserver },
        { provide: Identity, useExisting: EmbeddedIdentity },
        { provide: Holdings, useExisting: EmbeddedHoldings },
        { provide: Directory, useClass: EmbeddedDirectory },
      ],
      exports: [Homeserver, Identity, Holdings, Directory, EmbeddedHomeserver, PasswordHash],
    };
  }
}
