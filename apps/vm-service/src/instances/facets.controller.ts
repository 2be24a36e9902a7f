import { Controller, Get, Query, Res } from '@nestjs/common';
import { visibleInstances } from '@headgate/access';
import { FacetsQuery, FacetsView } from '@headgate/api-contracts';
import type { Caller } from '@headgate/domain-contracts';
import { FleetReader, queryEntries } from '@headgate/fleet';
import { countFacets } from '@headgate/instance-query';
import type { FastifyReply } from 'fastify';
import { parseListQuery } from '../fleet/compile-list-query.js';
import { ENTRY_FIELDS } from '../fleet/entry-fields.js';
import { readable } from '../fleet/readable.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';

/** Numbers of instances, for the filters of a list. Never asks a backend. */
@Controller('api/ext/facets')
export class FacetsController {
  constructor(private readonly fleet: FleetReader) {}

  @Needs(visibleInstances)
  @Get()
  @Describe(
    'The number of instances that match a query, by status, context, folder, tag and node.',
    answer(200, FacetsView, 'svc-partial'),
  )
  async count(
    @Query() { kind = 'vm', q, context, folder }: FacetsQuery,
    @CurrentCaller() { grant }: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<FacetsView> {
    const query = parseListQuery(q);
    await this.fleet.whenSynced();
    this.fleet.expectSomeContext();
    if (this.fleet.states().some(({ state }) => state !== 'up')) void reply.header('svc-partial', 'true');
    const { entries } = queryEntries(readable(this.fleet.all(kind), grant), { context, folder });
    const fields = ['status', 'context', 'folder', 'tag', 'node'] as const;
    const { matched, counts } = countFacets(query, entries, ENTRY_FIELDS, fields);
    return {
      matched,
      status: [...counts.status],
      context: [...counts.context],
      folder: [...counts.folder],
      tag: [...counts.tag],
      node: [...counts.node],
    };
  }
}
