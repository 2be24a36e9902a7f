import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { everything } from '@headgate/access';
import { ChangeQuery, CheckView, EmptyBody, FixedView, type PlanView } from '@headgate/api-contracts';
import { FixBackends } from '@headgate/doctor';
import { Needs } from '../platform/needs.decorator.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { ReadChecks } from './read-checks.js';

@Controller('api/doctor')
export class DoctorController {
  constructor(
    private readonly readChecks: ReadChecks,
    private readonly fixBackends: FixBackends,
  ) {}

  @Needs(everything('read'))
  @Get()
  @Describe(
    'The checks of each backend, of the service itself and of the installed plugins.',
    answerList(200, CheckView),
  )
  checks(): Promise<CheckView[]> {
    return this.readChecks.read();
  }

  @Needs(everything('manage'))
  @Post('fix')
  @Describe('Fixes the problems that can be fixed.', answer(200, FixedView))
  @HttpCode(200)
  fix(
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<FixedView | PlanView> {
    return request.answer(query, this.fixBackends, [], (fixed) => fixed);
  }
}
