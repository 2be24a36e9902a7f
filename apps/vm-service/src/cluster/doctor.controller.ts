import { Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ChangeQuery, CheckView, FixedView, type PlanView } from '@headgate/api-contracts';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { CheckBackends } from './check-backends.js';
import { FixBackends } from './fix-backends.js';

@Controller('api/doctor')
export class DoctorController {
  constructor(
    private readonly checkBackends: CheckBackends,
    private readonly fixBackends: FixBackends,
  ) {}

  @Get()
  @Describe('What is wrong with each backend.', answerList(200, CheckView))
  checks(): Promise<CheckView[]> {
    return this.checkBackends.run();
  }

  @Post('fix')
  @Describe('Mends what can be mended.', answer(200, FixedView))
  @HttpCode(200)
  fix(@Query() query: ChangeQuery, @Changing() request: ChangeRequest): Promise<FixedView | PlanView> {
    return request.answer(query, this.fixBackends, [], (fixed) => fixed);
  }
}
