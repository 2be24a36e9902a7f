import { isRoomId, MatrixError, utf8Length } from '@headgate/matrix-protocol';
import { type Answer, ok } from '../../wire/answer.js';
import type { MatrixRequest } from '../../wire/matrix-request.js';
import type { EmbeddedIdentity } from '../accounts/embedded-identity.js';
import type { Database } from '../database.js';
import { Handlers } from '../handlers.js';
import { ownUser } from '../own-user.js';

const MAX_TAG_BYTES = 255;

/** The tags that a user puts on rooms, any number of them. */
export class TagHandlers extends Handlers {
  constructor(
    private readonly db: Database,
    private readonly identity: EmbeddedIdentity,
  ) {
    super();
  }

  override readonly handlers = {
    getTags: (request: MatrixRequest) => this.list(request),
    setTag: (request: MatrixRequest) => this.set(request),
    deleteTag: (request: MatrixRequest) => this.delete(request),
  };

  private list(request: MatrixRequest): Answer {
    const [userId, roomId] = this.place(request);
    const sql = 'SELECT tag, content FROM tags WHERE user_id = ? AND room_id = ? ORDER BY tag';
    const rows = this.db.all<{ tag: string; content: string }>(sql, userId, roomId);
    return ok({ tags: Object.fromEntries(rows.map(({ tag, content }) => [tag, JSON.parse(content)])) });
  }

  private async set(request: MatrixRequest): Promise<Answer> {
    const [userId, roomId] = this.place(request);
    const tag = request.param('tag');
    if (utf8Length(tag) > MAX_TAG_BYTES) throw MatrixError.invalidParam(`A tag has at most ${MAX_TAG_BYTES} bytes.`);
    const content = await request.json(undefined, { optional: true });
    const sql = 'INSERT INTO tags VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET content = excluded.content';
    this.db.run(sql, userId, roomId, tag, JSON.stringify(content));
    return ok();
  }

  private delete(request: MatrixRequest): Answer {
    const sql = 'DELETE FROM tags WHERE user_id = ? AND room_id = ? AND tag = ?';
    this.db.run(sql, ...this.place(request), request.param('tag'));
    return ok();
  }

  private place(request: MatrixRequest): [userId: string, roomId: string] {
    const userId = ownUser(this.identity, request);
    if (!isRoomId(request.param('roomId'))) throw MatrixError.invalidParam('This is no room id.');
    return [userId, request.param('roomId')];
  }
}
