import type { BoundedOperation } from '@headgate/homeserver-contracts';
import { asRequestLine, DENDRITE, operationAt, UNESCAPED_PIECES } from '@headgate/homeserver-contracts/testing';
import { Dendrite, describeWithDendrite } from './testing/dendrite.js';
import { MatrixUser } from './testing/matrix-user.js';
import { RawTargetClient } from './testing/raw-target-client.js';
import { type ReceivedRequest, receivedRequests } from './testing/received-requests.js';

/** Targets before they pass any proxy. 10,000 were checked once with `HEADGATE_TEST_TARGETS=10000`. */
const COUNT = Number(process.env['HEADGATE_TEST_TARGETS'] ?? 1_000);
const CONNECTIONS = 8;
const TIMEOUT_MS = 600_000;

/** How Dendrite answers an empty object from a user who is in no room, by the operation that it carries out. */
const ANSWERS: readonly (readonly [RegExp, BoundedOperation | undefined])[] = [
  [/unhandled login type: /, 'login'],
  [/A known registration type/, 'register'],
  [/^\{"content_uri":"mxc:/, 'upload'],
  [/QueryRoomVersionForRoom: missing room info for room/, 'send'],
  [/Cannot request tokens for other users/, 'openIdToken'],
  [/userID does not match the current user/, 'setRoomAccountData'],
  [/^\{"message":"Bad Request"\}$/, 'sendTransaction'],
  // Endpoints without a bound, unknown ones, and targets that Go refuses.
  [/^\{"errcode":"M_UNRECOGNIZED"/, undefined],
  [/^400 Bad Request/, undefined],
  [/^$/, undefined],
];
const OPERATIONS = ANSWERS.flatMap(([, operation]) => operation ?? []);

describeWithDendrite('the operations that Dendrite finds in a target', () => {
  let dendrite: Dendrite;
  let clients: RawTargetClient[];

  beforeAll(async () => {
    dendrite = await Dendrite.start();
    const { token } = await MatrixUser.register(dendrite.url);
    const port = Number(new URL(dendrite.url).port);
    clients = Array.from(
      { length: CONNECTIONS },
      () => new RawTargetClient(port, { Authorization: `Bearer ${token}` }),
    );
  }, TIMEOUT_MS);
  afterAll(async () => {
    for (const client of clients ?? []) client.close();
    await dendrite?.dispose();
  });

  async function eachAnswer(
    requests: readonly ReceivedRequest[],
    receive: (request: ReceivedRequest, carriedOut: string | undefined) => void,
  ): Promise<void> {
    const left = [...requests];
    await Promise.all(
      clients.map(async (client) => {
        for (let next = left.pop(); next; next = left.pop()) {
          const { status, body } = await client.send(next.method, next.target, '{}');
          const answer = ANSWERS.find(([pattern]) => pattern.test(body));
          receive(next, answer ? answer[1] : `${status} ${body}`);
        }
      }),
    );
  }

  test.each([
    ['', undefined],
    [', with characters that should be escaped', UNESCAPED_PIECES],
  ])(
    'are those of its model, and those that the gateway finds, directly and behind every proxy%s',
    async (_which, pieces) => {
      const unlikeModel: string[] = [];
      const missed: string[] = [];
      const carriedOut = new Set<string>();
      await eachAnswer(receivedRequests(COUNT, pieces), ({ method, target, verdict }, operation) => {
        const modeled = operationAt(DENDRITE, method, asRequestLine(target))?.operation;
        if (modeled !== operation) unlikeModel.push(`${method} ${target}: ${operation}, not ${modeled}`);
        if (operation === undefined) return;
        carriedOut.add(operation);
        if (verdict !== 'ambiguous' && verdict !== operation)
          missed.push(`${method} ${target}: ${operation}, not ${verdict}`);
      });
      expect(unlikeModel).toEqual([]);
      expect(missed).toEqual([]);
      // Each of them was seen, so that a difference would be, too.
      expect([...carriedOut].sort()).toEqual([...OPERATIONS].sort());
    },
    TIMEOUT_MS,
  );
});
