import { Body, Controller, HttpCode, Post, Query } from '@nestjs/common';
import { refInBody } from '@headgate/access';
import {
  ChangeQuery,
  GuestCommandDto,
  GuestCommandView,
  GuestPasswordDto,
  StatusView,
  type PlanView,
} from '@headgate/api-contracts';
import { parseRef } from '@headgate/domain-contracts';
import { RunGuestCommand, SetGuestPassword } from '@headgate/instances';
import { Needs } from '../platform/needs.decorator.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';

const DEFAULT_TIMEOUT_SECONDS = 10;

@Controller('api/ext/guest')
export class GuestControlController {
  constructor(
    private readonly setGuestPassword: SetGuestPassword,
    private readonly runGuestCommand: RunGuestCommand,
  ) {}

  @Needs(refInBody('guest'))
  @Post('password')
  @Describe('Sets the password of an account in a running guest, through its agent.', answer(200, StatusView))
  @HttpCode(200)
  password(
    @Body() { ref, user, password }: GuestPasswordDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.setGuestPassword, [parseRef(ref), user, password], () => ({ status: 'ok' }));
  }

  @Needs(refInBody('guest'))
  @Post('command')
  @Describe(
    'Runs a program in a running guest, through its agent, and waits for its end.',
    answer(200, GuestCommandView),
  )
  @HttpCode(200)
  command(
    @Body() { ref, path, args = [], timeoutSeconds = DEFAULT_TIMEOUT_SECONDS }: GuestCommandDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<GuestCommandView | PlanView> {
    const command = { path, args, timeoutMs: timeoutSeconds * 1000 };
    return request.answer(query, this.runGuestCommand, [parseRef(ref), command], (result) => ({ ...result }));
  }
}
