import type { Route } from './path-table.js';

/**
 * Every operation that a bound or a rule can refuse, and those whose responses update the gateway's counts, under every
 * path that a known server has for them. This table alone classifies requests, in both modes. `endTokens` and
 * `authenticate` ask for the password again.
 */
export type BoundedOperation =
  | 'login'
  | 'register'
  | 'send'
  | 'setState'
  | 'scheduleDelayed'
  | 'manageDelayed'
  | 'openIdToken'
  | 'sfuCredential'
  | 'upload'
  | 'uploadTo'
  | 'createMedia'
  | 'mediaConfig'
  | 'createFilter'
  | 'getFilter'
  | 'setAccountData'
  | 'setRoomAccountData'
  | 'deleteAccountData'
  | 'deleteRoomAccountData'
  | 'uploadKeys'
  | 'setDehydratedDevice'
  | 'setPusher'
  | 'sendTransaction'
  | 'redact'
  | 'createRoom'
  | 'upgradeRoom'
  | 'invite'
  | 'joinRoom'
  | 'joinByName'
  | 'knock'
  | 'logout'
  | 'logoutAll'
  | 'refreshToken'
  | 'endTokens'
  | 'authenticate';

const CLIENT = '/_matrix/client/{v}';
const MEDIA = '/_matrix/media/{v}';
const SVC = '/_svc/rtc/media';
const ACCOUNT_DATA = `${CLIENT}/user/:userId/account_data/:type`;
const ROOM_ACCOUNT_DATA = `${CLIENT}/user/:userId/rooms/:roomId/account_data/:type`;

/**
 * An operation that some servers also have as a `PUT` with a transaction ID. The `POST` has none, so that an alias or
 * event ID with an escaped slash is not taken for two parameters.
 */
const withTransaction = (operation: BoundedOperation, path: string): readonly Route<BoundedOperation>[] => [
  { operation, methods: ['POST'], paths: [`${CLIENT}/${path}`] },
  { operation, methods: ['PUT'], paths: [`${CLIENT}/${path}/:txnId`] },
];

export const boundedOperations: readonly Route<BoundedOperation>[] = [
  { operation: 'login', methods: ['POST'], paths: [`${CLIENT}/login`] },
  { operation: 'register', methods: ['POST'], paths: [`${CLIENT}/register`] },
  { operation: 'send', methods: ['PUT', 'POST'], paths: [`${CLIENT}/rooms/:roomId/send/:eventType/:txnId?`] },
  { operation: 'setState', methods: ['PUT'], paths: [`${CLIENT}/rooms/:roomId/state/:eventType/:stateKey?`] },
  {
    operation: 'scheduleDelayed',
    methods: ['PUT', 'POST'],
    paths: [`${CLIENT}/rooms/:roomId/delayed_event/:eventType/:txnId?`],
  },
  { operation: 'manageDelayed', methods: ['POST'], paths: [`${CLIENT}/delayed_events/:delayId/:action?`] },
  {
    operation: 'openIdToken',
    methods: ['POST'],
    paths: [`${CLIENT}/user/:userId/openid/request_token`],
    openEnded: true,
  },
  { operation: 'sfuCredential', methods: ['POST'], paths: [`${SVC}/sfu/get`, `${SVC}/get_token`] },
  { operation: 'upload', methods: ['POST'], paths: [`${MEDIA}/upload`] },
  { operation: 'uploadTo', methods: ['PUT'], paths: [`${MEDIA}/upload/:serverName/:mediaId`] },
  { operation: 'createMedia', methods: ['POST'], paths: [`${MEDIA}/create`] },
  { operation: 'mediaConfig', methods: ['GET'], paths: [`${MEDIA}/config`, `${CLIENT}/media/config`] },
  { operation: 'createFilter', methods: ['POST'], paths: [`${CLIENT}/user/:userId/filter`] },
  { operation: 'getFilter', methods: ['GET'], paths: [`${CLIENT}/user/:userId/filter/:filterId`] },
  { operation: 'setAccountData', methods: ['PUT'], paths: [ACCOUNT_DATA], openEnded: true },
  { operation: 'setRoomAccountData', methods: ['PUT'], paths: [ROOM_ACCOUNT_DATA], openEnded: true },
  { operation: 'deleteAccountData', methods: ['DELETE'], paths: [ACCOUNT_DATA], openEnded: true },
  { operation: 'deleteRoomAccountData', methods: ['DELETE'], paths: [ROOM_ACCOUNT_DATA], openEnded: true },
  { operation: 'uploadKeys', methods: ['POST'], paths: [`${CLIENT}/keys/upload/:deviceId?`] },
  { operation: 'setDehydratedDevice', methods: ['PUT'], paths: [`${CLIENT}/dehydrated_device`] },
  { operation: 'setPusher', methods: ['POST'], paths: [`${CLIENT}/pushers/set`] },
  { operation: 'sendTransaction', methods: ['PUT'], paths: ['/_matrix/federation/{v}/send/:txnId'] },
  ...withTransaction('redact', 'rooms/:roomId/redact/:eventId'),
  ...withTransaction('createRoom', 'createRoom'),
  { operation: 'upgradeRoom', methods: ['POST'], paths: [`${CLIENT}/rooms/:roomId/upgrade`] },
  ...withTransaction('invite', 'rooms/:roomId/invite'),
  ...withTransaction('joinRoom', 'rooms/:roomId/join'),
  ...withTransaction('joinByName', 'join/:roomIdOrAlias'),
  ...withTransaction('knock', 'knock/:roomIdOrAlias'),
  { operation: 'logout', methods: ['POST'], paths: [`${CLIENT}/logout`] },
  { operation: 'logoutAll', methods: ['POST'], paths: [`${CLIENT}/logout/all`] },
  { operation: 'refreshToken', methods: ['POST'], paths: [`${CLIENT}/refresh`] },
  {
    operation: 'endTokens',
    methods: ['POST'],
    paths: ['account/password', 'account/deactivate', 'delete_devices'].map((path) => `${CLIENT}/${path}`),
  },
  { operation: 'endTokens', methods: ['DELETE'], paths: [`${CLIENT}/devices/:deviceId`] },
  {
    operation: 'authenticate',
    methods: ['POST'],
    paths: ['account/3pid/add', 'keys/device_signing/upload', 'login/get_token', 'login/token'].map(
      (path) => `${CLIENT}/${path}`,
    ),
  },
];
