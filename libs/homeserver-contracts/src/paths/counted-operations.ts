import { type Classified, PathTable, type Route } from './path-table.js';

/**
 * The operations that only rules count, under every path that a known server has for them. They are not in the table of
 * bounded operations: without a rule on them, nothing about their requests changes.
 */
export type CountedOperation =
  | 'requestEmailToken'
  | 'requestPhoneToken'
  | 'registerAvailable'
  | 'download'
  | 'legacyDownload'
  | 'queryKeys'
  | 'claimKeys'
  | 'searchUsers'
  | 'rendezvous'
  | 'authLogin'
  | 'authRegistration'
  | 'authRecovery'
  | 'authApi'
  | 'oauthToken'
  | 'oauthClient'
  | 'deviceCode'
  | 'deviceLink';

const CLIENT = '/_matrix/client/{v}';
const SYNAPSE_RENDEZVOUS = '/_synapse/client/rendezvous';
const MEDIA_PATHS = ['download/:serverName/:mediaId/:fileName?', 'thumbnail/:serverName/:mediaId'];
const tokenPaths = (medium: string): string[] =>
  ['register', 'account/password', 'account/3pid'].map((path) => `${CLIENT}/${path}/${medium}/requestToken`);

export const countedOperations: readonly Route<CountedOperation>[] = [
  { operation: 'requestEmailToken', methods: ['POST'], paths: tokenPaths('email') },
  { operation: 'requestPhoneToken', methods: ['POST'], paths: tokenPaths('msisdn') },
  { operation: 'registerAvailable', methods: ['GET'], paths: [`${CLIENT}/register/available`] },
  { operation: 'download', methods: ['GET'], paths: MEDIA_PATHS.map((path) => `${CLIENT}/media/${path}`) },
  // They need no access token.
  { operation: 'legacyDownload', methods: ['GET'], paths: MEDIA_PATHS.map((path) => `/_matrix/media/{v}/${path}`) },
  { operation: 'queryKeys', methods: ['POST'], paths: [`${CLIENT}/keys/query`] },
  { operation: 'claimKeys', methods: ['POST'], paths: [`${CLIENT}/keys/claim`] },
  { operation: 'searchUsers', methods: ['POST'], paths: [`${CLIENT}/user_directory/search`] },
  // Creating a session, and writing to one. Reading is a poll.
  { operation: 'rendezvous', methods: ['POST'], paths: [`${CLIENT}/rendezvous`, SYNAPSE_RENDEZVOUS] },
  {
    operation: 'rendezvous',
    methods: ['PUT'],
    paths: [`${CLIENT}/rendezvous/:id`, `${SYNAPSE_RENDEZVOUS}/:id`],
  },
  // Those of the Matrix Authentication Service, which has its own pages. Source: its crates/router/src/endpoints.rs.
  { operation: 'authLogin', methods: ['POST'], paths: ['/login'] },
  {
    operation: 'authRegistration',
    methods: ['POST'],
    paths: ['/register', '/register/password', '/register/steps/:id/:step'],
  },
  { operation: 'authRecovery', methods: ['POST'], paths: ['/recover', '/recover/progress/:id'] },
  { operation: 'authApi', methods: ['GET', 'POST'], paths: ['/graphql'] },
  { operation: 'oauthToken', methods: ['POST'], paths: ['/oauth2/token'] },
  { operation: 'oauthClient', methods: ['POST'], paths: ['/oauth2/registration'] },
  { operation: 'deviceCode', methods: ['POST'], paths: ['/oauth2/device'] },
  // It takes the code of a user in the query.
  { operation: 'deviceLink', methods: ['GET', 'POST'], paths: ['/link'] },
];

/**
 * Finds the counted operation of a request. A path that servers read differently is not refused: it counts as the
 * operation that any of them reads in it.
 */
export class CountedPaths {
  private readonly all = new PathTable(countedOperations);
  private readonly each = Map.groupBy(countedOperations, ({ operation }) => operation);
  private readonly tables = [...this.each].map(([operation, routes]) => [operation, new PathTable(routes)] as const);

  /** @param target the request target as received; @param method `GET` for a `HEAD` */
  of(method: string, target: string): CountedOperation | undefined {
    const classified: Classified<CountedOperation> = this.all.classify(method, target);
    if (classified.kind !== 'ambiguous') {
      return classified.kind === 'matched' ? classified.match.operation : undefined;
    }
    const [operation] = this.tables.find(([, table]) => table.classify(method, target).kind !== 'unknown') ?? [];
    return operation;
  }
}
