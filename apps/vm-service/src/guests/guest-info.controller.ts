import { Controller, Get, Param, Query } from '@nestjs/common';
import { vm } from '@headgate/access';
import { ContextQuery, GuestInfoView, InstancePath } from '@headgate/api-contracts';
import { ReadGuestInfo } from '@headgate/instances';
import { instanceQuery } from '../instances/instance-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, Describe } from '../platform/answers.decorator.js';

@Controller('api/vms')
export class GuestInfoController {
  constructor(private readonly readGuestInfo: ReadGuestInfo) {}

  @Needs(vm('read'))
  @Get(':ns/:name/guestinfo')
  @Describe(
    'The system, users and file systems of a guest, read through its agent; 503 when the agent does not answer.',
    answer(200, GuestInfoView),
  )
  async info(@Param() path: InstancePath, @Query() query: ContextQuery): Promise<GuestInfoView> {
    const { os, users, filesystems } = await this.readGuestInfo.read(instanceQuery('vm', path, query));
    return { os, users: [...users], filesystems: [...filesystems] };
  }
}
