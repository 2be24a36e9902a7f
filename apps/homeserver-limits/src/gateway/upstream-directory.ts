import { Directory, type MatrixRequest } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { UpstreamQueries } from './upstream-queries.js';

/** Asks the upstream, which asks the alias's server if it is another one. */
@Injectable()
export class UpstreamDirectory extends Directory {
  constructor(private readonly upstream: UpstreamQueries) {
    super();
  }

  override async roomOf(alias: string, request: MatrixRequest): Promise<string | undefined> {
    const path = `/_matrix/client/v3/directory/room/${encodeURIComponent(alias)}`;
    const result = await this.upstream.asCaller(request, 'GET', path).catch(() => undefined);
    const room = result?.status === 200 ? result.body?.room_id : undefined;
    return typeof room === 'string' ? room : undefined;
  }
}
