import { isRoomId, type JsonObject, MatrixError, utf8Length } from '@headgate/matrix-protocol';
import { type MatrixResponse, type MatrixRequest, ok } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { EmbeddedIdentity } from '../accounts/embedded-identity.js';
import { Handlers } from '../handlers.js';
import { ownUser } from '../own-user.js';
import { storedJson } from '../request-json.js';
import { Tags } from './tags.js';

const MAX_TAG_BYTES = 255;

@Injectable()
export class TagHandlers extends Handlers {
  constructor(
    private readonly tags: Tags,
    private readonly identity: EmbeddedIdentity,
  ) {
    super();
  }

  override readonly handlers = {
    getTags: (request: MatrixRequest) => ok({ tags: this.tags.of(...this.userAndRoom(request)) }),
    setTag: (request: MatrixRequest) => this.set(request),
    deleteTag: (request: MatrixRequest) => this.delete(request),
  };

  private async set(request: MatrixRequest): Promise<MatrixResponse> {
    const userAndRoom = this.userAndRoom(request);
    const tag = request.param('tag');
    if (utf8Length(tag) > MAX_TAG_BYTES) throw MatrixError.invalidParam(`A tag has at most ${MAX_TAG_BYTES} bytes.`);
    this.tags.set(...userAndRoom, tag, readTag(await storedJson(request, { optional: true })));
    return ok();
  }

  private delete(request: MatrixRequest): MatrixResponse {
    this.tags.delete(...this.userAndRoom(request), request.param('tag'));
    return ok();
  }

  private userAndRoom(request: MatrixRequest): [userId: string, roomId: string] {
    const userId = ownUser(this.identity, request);
    if (!isRoomId(request.param('roomId'))) throw MatrixError.invalidParam('The path has no valid room ID.');
    return [userId, request.param('roomId')];
  }
}

function readTag(content: JsonObject): JsonObject {
  const { order } = content;
  if (order !== undefined && !(typeof order === 'number' && order >= 0 && order <= 1)) {
    throw MatrixError.badJson('order must be a number from 0 to 1.');
  }
  return content;
}
