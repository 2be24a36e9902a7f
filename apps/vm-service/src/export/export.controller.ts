import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { vm } from '@headgate/access';
import { ExportQuery, InstancePath } from '@headgate/api-contracts';
import {
  backupImageName,
  DomainError,
  isIncremental,
  type BackupRequest,
  type Caller,
  type ExportFormat,
} from '@headgate/domain-contracts';
import { ExportDisk } from '@headgate/instances';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { EdgePolicy } from '../identity/edge-policy.js';
import { instanceQuery } from '../instances/instance-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { clientLeft } from '../platform/client-left.js';
import { answer, Describe } from '../platform/answers.decorator.js';

const EXTENSIONS: Readonly<Record<ExportFormat, string>> = { 'raw.gz': 'img.gz', qcow2: 'qcow2' };
const TYPES: Readonly<Record<ExportFormat, string>> = {
  'raw.gz': 'application/gzip',
  qcow2: 'application/octet-stream',
};

@Controller('api/vms')
export class ExportController {
  constructor(
    private readonly exportDisk: ExportDisk,
    private readonly edge: EdgePolicy,
  ) {}

  @Needs(vm('export', { doing: 'Exporting a disk' }))
  @Get(':ns/:name/export')
  @Describe(
    'The boot disk of a stopped VM, or of a running one with a checkpoint, for administrators: the raw image compressed with gzip, or a ' +
      'compressed qcow2 image. With `since`, the changes since a checkpoint: a qcow2 image based on that of the checkpoint.',
    answer(200, 'application/gzip', 'content-disposition', 'svc-checkpoint', 'svc-since'),
    answer(200, 'application/octet-stream'),
  )
  async export(
    @Param() path: InstancePath,
    @Query() query: ExportQuery,
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const wanted = wantedOf(query);
    // A link of another site must not create checkpoints.
    if (query.checkpoint !== undefined) this.edge.checkOrigin(request.headers);
    const exported = { query: instanceQuery('vm', path, query), wanted, caller };
    const headers = headersOf(path.name, wanted);
    if (request.method === 'HEAD') {
      await this.exportDisk.check(exported);
      return void reply.headers(headers).send();
    }
    const stream = await this.exportDisk.open(exported, clientLeft(reply));
    void reply.headers(headers).send(stream);
  }
}

function wantedOf(query: ExportQuery): ExportFormat | BackupRequest {
  const { checkpoint, since } = query;
  const format: ExportFormat = query.format ?? 'raw.gz';
  if (since !== undefined && since === checkpoint)
    throw new DomainError('INVALID_INPUT', 'checkpoint must differ from since.');
  if (since !== undefined) return checkpoint === undefined ? { since } : { since, checkpoint };
  return checkpoint === undefined ? format : { checkpoint, format };
}

/**
 * The names of exports with checkpoints differ, so that a folder can hold all of them, and increments name the image
 * below.
 */
function headersOf(vm: string, wanted: ExportFormat | BackupRequest): Record<string, string> {
  const [name, format] = fileOf(vm, wanted);
  return {
    'content-type': TYPES[format],
    'content-disposition': `attachment; filename="${name}"`,
    ...(typeof wanted === 'object' && wanted.checkpoint !== undefined && { 'svc-checkpoint': wanted.checkpoint }),
    ...(typeof wanted === 'object' && isIncremental(wanted) && { 'svc-since': wanted.since }),
  };
}

function fileOf(vm: string, wanted: ExportFormat | BackupRequest): [name: string, format: ExportFormat] {
  if (typeof wanted === 'string') return [`${vm}.${EXTENSIONS[wanted]}`, wanted];
  if (!isIncremental(wanted)) return [`${vm}-${wanted.checkpoint}.${EXTENSIONS[wanted.format]}`, wanted.format];
  const { since, checkpoint } = wanted;
  return [checkpoint === undefined ? `${vm}-since-${since}.qcow2` : backupImageName(vm, checkpoint), 'qcow2'];
}
