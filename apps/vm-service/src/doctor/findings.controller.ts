import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { everything } from '@headgate/access';
import { ChangeQuery, FindingView, FixedView, FixFindingDto, type PlanView } from '@headgate/api-contracts';
import { FixCheck } from '@headgate/doctor';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { ReadChecks } from './read-checks.js';

@Controller('api/ext/doctor')
export class FindingsController {
  constructor(
    private readonly readChecks: ReadChecks,
    private readonly fixCheck: FixCheck,
  ) {}

  @Needs(everything('read'))
  @Get()
  @Describe(
    'The checks with a title, and for those that do not pass since when and for which instances.',
    answerList(200, FindingView),
  )
  findings(): Promise<FindingView[]> {
    return this.readChecks.readFindings();
  }

  @Needs(everything('manage'))
  @Post('fix')
  @Describe('Fixes the problem of one check.', answer(200, FixedView))
  @HttpCode(200)
  fix(
    @Body() { context, name }: FixFindingDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<FixedView | PlanView> {
    return request.answer(query, this.fixCheck, [context, name], (fixed) => fixed);
  }
}
