import { MatrixError } from '@headgate/matrix-protocol';
import { readSfuRequest } from '../bounds/sfu-credential.bound.js';
import type { Identity } from '../homeserver/identity.port.js';
import type { CallCredentials } from '../rtc/call-credentials.js';
import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { type AskUpstream, undecided } from './ask-upstream.js';
import type { Registration } from './registration.js';

/**
 * The endpoint of the media service, answered by the gateway itself. An OpenID token proves who somebody is and opens
 * nothing at the homeserver, so his membership is asked for by an application service that may speak for him.
 */
export class GatewayCalls {
  constructor(
    private readonly identity: Identity,
    private readonly upstream: AskUpstream,
    private readonly service: Registration,
    private readonly credentials: CallCredentials,
  ) {}

  async answer(request: MatrixRequest): Promise<Answer> {
    const { roomId, deviceId, serverName, openIdToken } = readSfuRequest(await request.json());
    const userId = await this.identity.openIdUser(serverName, openIdToken);
    if (userId === undefined) throw MatrixError.unknownToken();
    if (!(await this.isMember(userId, roomId))) throw MatrixError.forbidden('The room has no such member.');
    return this.credentials.answer({ userId, deviceId, roomId });
  }

  private async isMember(userId: string, roomId: string): Promise<boolean> {
    // The homeserver would say 403 here, too, and nobody would learn that it is the registration.
    if (!this.service.users.some((users) => users.test(userId))) throw cannotAsk(userId);
    const user = encodeURIComponent(userId);
    const path = `/_matrix/client/v3/rooms/${encodeURIComponent(roomId)}/state/m.room.member/${user}?user_id=${user}`;
    const answer = await this.upstream.get(path, this.service.token);
    if (answer.status === 403 || answer.status === 404) return false;
    // A 401 is about the application service's token, not about the caller's.
    if (answer.status !== 200 || !answer.body) throw cannotAsk(userId, undecided(answer, 'It does not say.'));
    return answer.body.membership === 'join';
  }
}

const cannotAsk = (userId: string, cause?: unknown): MatrixError =>
  new MatrixError(
    502,
    'M_UNKNOWN',
    'The homeserver cannot be asked for members of rooms.',
    {},
    { cause: cause ?? new Error(`rtc.registration does not speak for ${userId}`) },
  );
