import { isRoomAlias, MatrixError } from '@headgate/matrix-protocol';
import { type MatrixResponse, jsonResponse, type MatrixRequest, ok } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { EmbeddedOptions } from '../embedded-options.js';
import { EmbeddedIdentity } from '../accounts/embedded-identity.js';
import { Handlers } from '../handlers.js';
import { Aliases } from './aliases.js';
import { Rooms } from './rooms.js';

/** The aliases of rooms on this server. */
@Injectable()
export class DirectoryHandlers extends Handlers {
  constructor(
    private readonly options: EmbeddedOptions,
    private readonly aliases: Aliases,
    private readonly rooms: Rooms,
    private readonly identity: EmbeddedIdentity,
  ) {
    super();
  }

  override readonly handlers = {
    setAlias: (request: MatrixRequest) => this.set(request),
    getAlias: (request: MatrixRequest) => this.get(request),
    deleteAlias: (request: MatrixRequest) => this.delete(request),
  };

  private async set(request: MatrixRequest): Promise<MatrixResponse> {
    const { userId } = this.identity.require(request);
    const alias = request.param('alias');
    if (!isRoomAlias(alias) || !alias.endsWith(`:${this.options.serverName}`)) {
      throw MatrixError.invalidParam('The alias must belong to this server.');
    }
    const { room_id: roomId } = await request.json();
    if (typeof roomId !== 'string' || !this.rooms.exists(roomId))
      throw MatrixError.invalidParam('room_id must name an existing room.');
    const added = this.aliases.add(alias, roomId, userId);
    return added ? ok() : jsonResponse(409, { errcode: 'M_UNKNOWN', error: 'The alias is taken.' });
  }

  private get(request: MatrixRequest): MatrixResponse {
    const roomId = this.aliases.room(request.param('alias'));
    if (roomId === undefined) throw MatrixError.notFound('There is no such alias.');
    return ok({ room_id: roomId, servers: [this.options.serverName] });
  }

  private delete(request: MatrixRequest): MatrixResponse {
    const { userId } = this.identity.require(request);
    const alias = request.param('alias');
    const creator = this.aliases.creator(alias);
    if (creator === undefined) throw MatrixError.notFound('There is no such alias.');
    if (creator !== userId) throw MatrixError.forbidden('The alias belongs to another user.');
    this.aliases.remove(alias);
    return ok();
  }
}
