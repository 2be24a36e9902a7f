import { type BoundedOperation, boundedOperations, type Route } from '@headgate/homeserver-contracts';

const CLIENT = '/_matrix/client/{v}';
const DELAYED = '/_matrix/client/unstable/org.matrix.msc4140';

/** The operations of the embedded homeserver besides the bounded ones. */
const unboundedOperations = [
  { operation: 'versions', methods: ['GET'], paths: ['/_matrix/client/versions'] },
  { operation: 'wellKnownClient', methods: ['GET'], paths: ['/.well-known/matrix/client'] },
  { operation: 'capabilities', methods: ['GET'], paths: [`${CLIENT}/capabilities`] },
  { operation: 'pushRules', methods: ['GET'], paths: [`${CLIENT}/pushrules`] },
  { operation: 'loginFlows', methods: ['GET'], paths: [`${CLIENT}/login`] },
  { operation: 'registerAvailable', methods: ['GET'], paths: [`${CLIENT}/register/available`] },
  { operation: 'whoami', methods: ['GET'], paths: [`${CLIENT}/account/whoami`] },
  { operation: 'devices', methods: ['GET'], paths: [`${CLIENT}/devices`] },
  { operation: 'sync', methods: ['GET'], paths: [`${CLIENT}/sync`] },
  { operation: 'leaveRoom', methods: ['POST'], paths: [`${CLIENT}/rooms/:roomId/leave`] },
  { operation: 'joinedRooms', methods: ['GET'], paths: [`${CLIENT}/joined_rooms`] },
  { operation: 'joinedMembers', methods: ['GET'], paths: [`${CLIENT}/rooms/:roomId/joined_members`] },
  { operation: 'getState', methods: ['GET'], paths: [`${CLIENT}/rooms/:roomId/state`] },
  { operation: 'getStateEvent', methods: ['GET'], paths: [`${CLIENT}/rooms/:roomId/state/:eventType/:stateKey?`] },
  { operation: 'getEvent', methods: ['GET'], paths: [`${CLIENT}/rooms/:roomId/event/:eventId`] },
  { operation: 'getAliases', methods: ['GET'], paths: [`${CLIENT}/rooms/:roomId/aliases`] },
  { operation: 'setAlias', methods: ['PUT'], paths: [`${CLIENT}/directory/room/:alias`] },
  { operation: 'getAlias', methods: ['GET'], paths: [`${CLIENT}/directory/room/:alias`] },
  { operation: 'deleteAlias', methods: ['DELETE'], paths: [`${CLIENT}/directory/room/:alias`] },
  { operation: 'listDelayedUnstable', methods: ['GET'], paths: [`${DELAYED}/delayed_events`] },
  { operation: 'listDelayed', methods: ['GET'], paths: [`${CLIENT}/delayed_events`] },
  { operation: 'getDelayed', methods: ['GET'], paths: [`${CLIENT}/delayed_events/:delayId`] },
  { operation: 'openIdUserInfo', methods: ['GET'], paths: ['/_matrix/federation/{v}/openid/userinfo'] },
  {
    operation: 'download',
    methods: ['GET'],
    paths: ['/_matrix/client/{v}/media/download/:serverName/:mediaId/:fileName?'],
  },
  { operation: 'getAccountData', methods: ['GET'], paths: [`${CLIENT}/user/:userId/account_data/:type`] },
  {
    operation: 'getRoomAccountData',
    methods: ['GET'],
    paths: [`${CLIENT}/user/:userId/rooms/:roomId/account_data/:type`],
  },
  { operation: 'getTags', methods: ['GET'], paths: [`${CLIENT}/user/:userId/rooms/:roomId/tags`] },
  { operation: 'setTag', methods: ['PUT'], paths: [`${CLIENT}/user/:userId/rooms/:roomId/tags/:tag`] },
  { operation: 'deleteTag', methods: ['DELETE'], paths: [`${CLIENT}/user/:userId/rooms/:roomId/tags/:tag`] },
  { operation: 'pushers', methods: ['GET'], paths: [`${CLIENT}/pushers`] },
  { operation: 'queryKeys', methods: ['POST'], paths: [`${CLIENT}/keys/query`] },
  { operation: 'claimKeys', methods: ['POST'], paths: [`${CLIENT}/keys/claim`] },
  { operation: 'serverKeys', methods: ['GET'], paths: ['/_matrix/key/v2/server/:keyId?'] },
  { operation: 'claimKeysForPeer', methods: ['POST'], paths: ['/_matrix/federation/{v}/user/keys/claim'] },
  { operation: 'federationVersion', methods: ['GET'], paths: ['/_matrix/federation/{v}/version'] },
] as const satisfies readonly Route<string>[];

export type EmbeddedOperation = BoundedOperation | (typeof unboundedOperations)[number]['operation'];

export const embeddedOperations: readonly Route<EmbeddedOperation>[] = [...boundedOperations, ...unboundedOperations];
