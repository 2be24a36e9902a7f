import { createReadStream } from 'node:fs';
import { isMediaId, MatrixError } from '@headgate/matrix-protocol';
import {
  type MatrixResponse,
  jsonResponse,
  type MatrixRequest,
  ok,
  UPLOAD_LIMIT_BYTES,
} from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { EmbeddedOptions } from '../embedded-options.js';
import { EmbeddedIdentity } from '../accounts/embedded-identity.js';
import { Handlers } from '../handlers.js';
import { Media, type StoredMedia } from './media.js';

@Injectable()
export class MediaHandlers extends Handlers {
  private readonly filling = new Set<string>();

  constructor(
    private readonly options: EmbeddedOptions,
    private readonly media: Media,
    private readonly identity: EmbeddedIdentity,
  ) {
    super();
  }

  override readonly handlers = {
    mediaConfig: (request: MatrixRequest) => {
      this.identity.require(request);
      return ok({ 'm.upload.size': UPLOAD_LIMIT_BYTES });
    },
    upload: (request: MatrixRequest) => this.upload(request),
    uploadTo: (request: MatrixRequest) => this.uploadTo(request),
    createMedia: (request: MatrixRequest) => {
      const { mediaId, expiresAt } = this.media.reserve(this.identity.require(request).userId);
      return ok({ content_uri: this.uri(mediaId), unused_expires_at: expiresAt });
    },
    download: (request: MatrixRequest) => this.download(request),
  };

  private async upload(request: MatrixRequest): Promise<MatrixResponse> {
    const { userId } = this.identity.require(request);
    const mediaId = await this.media.store(userId, request.stream(), this.metadataOf(request));
    return ok({ content_uri: this.uri(mediaId) });
  }

  private async uploadTo(request: MatrixRequest): Promise<MatrixResponse> {
    const { userId } = this.identity.require(request);
    const { media_id: id, owner, size } = this.known(request);
    if (owner !== userId) throw MatrixError.forbidden('This ID belongs to another user.');
    if (size !== null || this.filling.has(id)) {
      throw new MatrixError(409, 'M_CANNOT_OVERWRITE_MEDIA', 'This ID already has its content.');
    }
    this.filling.add(id);
    try {
      await this.media.store(userId, request.stream(), { ...this.metadataOf(request), id });
    } finally {
      this.filling.delete(id);
    }
    return ok();
  }

  private download(request: MatrixRequest): MatrixResponse {
    this.identity.require(request);
    const { media_id: id, size, content_type: type, filename } = this.known(request);
    if (size === null)
      return jsonResponse(504, { errcode: 'M_NOT_YET_UPLOADED', error: 'The content has not been uploaded yet.' });
    const headers = [
      ...['Content-Type', type ?? 'application/octet-stream'],
      ...['Content-Length', String(size)],
      ...['Content-Disposition', attachment(request.params.fileName ?? filename)],
      ...['Content-Security-Policy', "sandbox; default-src 'none'"],
    ];
    return { status: 200, headers, body: createReadStream(this.media.path(id)) };
  }

  private known(request: MatrixRequest): StoredMedia {
    const id = request.param('mediaId');
    const own = request.param('serverName') === this.options.serverName && isMediaId(id);
    const media = own ? this.media.find(id) : undefined;
    if (!media) throw MatrixError.notFound('There is no such media.');
    return media;
  }

  private metadataOf(request: MatrixRequest) {
    const type = request.header('content-type');
    const name = request.query.get('filename');
    return { ...(type !== undefined && { type }), ...(name !== null && { name }) };
  }

  private uri(mediaId: string): string {
    return `mxc://${this.options.serverName}/${mediaId}`;
  }
}

/** Downloads are attachments, so browsers never render them as pages. The name is percent-encoded as in RFC 8187. */
export function attachment(name: string | null): string {
  if (!name) return 'attachment';
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}
