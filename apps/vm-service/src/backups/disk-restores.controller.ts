import { Body, Controller, HttpCode, Param, Post, Query } from '@nestjs/common';
import { refInBody } from '@headgate/access';
import { AcceptedView, BackupPointPath, ChangeQuery, RestoreDisksDto, type PlanView } from '@headgate/api-contracts';
import { RestoreDisks, type RestoreDisksRequest } from '@headgate/backups';
import { DomainError, parseRef, type DiskRestoreMode } from '@headgate/domain-contracts';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';

// A backup has everything that is on the disks: who may only use the VM that gets them may not have those of another.
const OF_ALL_BACKUPS = { also: { action: 'create' } } as const;

@Controller('api/ext/backups/targets/:target/points/:point')
export class DiskRestoresController {
  constructor(private readonly restoreDisks: RestoreDisks) {}

  // The present content of the disks is lost.
  @Needs({ ...refInBody('delete'), kind: 'vm', ...OF_ALL_BACKUPS })
  @Post('replace-disks')
  @Describe(
    'Restores disks in place, as a task: the stopped VM of the backup gets their content, and loses what they have.',
    answer(202, AcceptedView),
  )
  @HttpCode(202)
  replace(
    @Param() path: BackupPointPath,
    @Body() body: RestoreDisksDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<AcceptedView | PlanView> {
    return request.answer(query, this.restoreDisks, [requestOf('replace', path, body)], (task) => ({ task }));
  }

  @Needs({ ...refInBody('change'), kind: 'vm', ...OF_ALL_BACKUPS })
  @Post('add-disks')
  @Describe(
    'Attaches disks of a backup to a VM as additional disks, as a task. Its other disks stay as they are.',
    answer(202, AcceptedView),
  )
  @HttpCode(202)
  add(
    @Param() path: BackupPointPath,
    @Body() body: RestoreDisksDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<AcceptedView | PlanView> {
    return request.answer(query, this.restoreDisks, [requestOf('add', path, body)], (task) => ({ task }));
  }
}

function requestOf(
  mode: DiskRestoreMode,
  { target, point }: BackupPointPath,
  { ref: text, disks }: RestoreDisksDto,
): RestoreDisksRequest {
  const ref = parseRef(text);
  if (ref.kind !== 'vm') throw new DomainError('INVALID_INPUT', 'ref: name a VM.');
  return { target, point, ref, mode, ...(disks && { disks }) };
}
