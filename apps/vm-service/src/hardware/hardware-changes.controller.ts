import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ct, vm } from '@headgate/access';
import {
  ContextQuery,
  HardwareChangesDto,
  HardwareChangesPlanView,
  HardwareChangesQuery,
  HardwareChangesView,
  HardwareView,
  InstancePath,
  type HardwareChangeDto,
} from '@headgate/api-contracts';
import type { Caller, InstanceQuery } from '@headgate/domain-contracts';
import { ChangeHardwareTogether, ReadHardware } from '@headgate/instances';
import { instanceQuery } from '../instances/instance-request.js';
import { answer, Describe, planAnswer } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { presentChanges, presentChangesPlan, toHardwareChanges } from './hardware-changes-request.js';
import { expectChangeAllowed } from './expect-change-allowed.js';
import { presentHardware } from './present-hardware.js';

/** Several changes of the virtual hardware of a VM in one request. */
@Controller('api/ext/vms/:ns/:name')
export class HardwareChangesController {
  constructor(private readonly changeTogether: ChangeHardwareTogether) {}

  @Needs(vm('change'))
  @Post('hardware')
  @Describe(
    'Makes several changes of the hardware of a VM. All are checked before the first one is carried out.',
    answer(200, HardwareChangesView),
    planAnswer(200, HardwareChangesPlanView),
  )
  @HttpCode(200)
  change(
    @Param() path: InstancePath,
    @Body() { changes }: HardwareChangesDto,
    @Query() query: HardwareChangesQuery,
    @CurrentCaller() caller: Caller,
    @Changing() request: ChangeRequest,
  ): Promise<HardwareChangesView | HardwareChangesPlanView> {
    const instance = instanceQuery('vm', path, query);
    return answerChanges(request, this.changeTogether, { instance, changes, query, caller });
  }
}

/** The limits of containers, by the use cases of the hardware of VMs. */
@Controller('api/ext/cts/:ns/:name')
export class ContainerHardwareController {
  constructor(
    private readonly readHardware: ReadHardware,
    private readonly changeTogether: ChangeHardwareTogether,
  ) {}

  @Needs(ct('read'))
  @Get('hardware')
  @Describe(
    'The CPUs and the memory of a container, its devices, and which changes its backend can make.',
    answer(200, HardwareView),
  )
  async read(@Param() path: InstancePath, @Query() query: ContextQuery): Promise<HardwareView> {
    return presentHardware(await this.readHardware.read(instanceQuery('ct', path, query)));
  }

  @Needs(ct('change'))
  @Post('hardware')
  @Describe(
    'Makes several changes of the hardware of a container, such as its CPUs and memory, which change while it runs. All are checked before the first one is carried out.',
    answer(200, HardwareChangesView),
    planAnswer(200, HardwareChangesPlanView),
  )
  @HttpCode(200)
  change(
    @Param() path: InstancePath,
    @Body() { changes }: HardwareChangesDto,
    @Query() query: HardwareChangesQuery,
    @CurrentCaller() caller: Caller,
    @Changing() request: ChangeRequest,
  ): Promise<HardwareChangesView | HardwareChangesPlanView> {
    const instance = instanceQuery('ct', path, query);
    return answerChanges(request, this.changeTogether, { instance, changes, query, caller });
  }
}

interface ChangesRequest {
  readonly instance: InstanceQuery;
  readonly changes: readonly HardwareChangeDto[];
  readonly query: HardwareChangesQuery;
  readonly caller: Caller;
}

function answerChanges(
  request: ChangeRequest,
  changeTogether: ChangeHardwareTogether,
  { instance, changes, query, caller }: ChangesRequest,
): Promise<HardwareChangesView | HardwareChangesPlanView> {
  for (const change of changes) expectChangeAllowed(change, caller.grant);
  const wanted = toHardwareChanges(changes, query.restart === 'true');
  return request.answerWith(query, changeTogether, [instance, wanted], {
    result: presentChanges,
    plan: presentChangesPlan,
  });
}
