import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ChangeQuery, CheckView, EmptyBody, FixedView, type PlanView } from '@headgate/api-contracts';
import { CheckBackends, FixBackends } from '@headgate/doctor';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';

@Controller('api/doctor')
export class DoctorController {
  constructor(
    private readonly checkBackends: CheckBackends,
    private readonly fixBackends: FixBackends,
  ) {}

  @Get()
  @Describe('The checks of each backend.', answerList(200, CheckView))
  checks(): Promise<CheckView[]> {
    return this.checkBackends.run();
  }

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
