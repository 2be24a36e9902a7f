import { Body, Controller, Delete, Get, Param } from '@nestjs/common';
import { everything, KnownGroups } from '@headgate/access';
import { EmptyBody, SessionPath, SessionView, StatusView } from '@headgate/api-contracts';
import { Audit, type Caller } from '@headgate/domain-contracts';
import { Sessions } from '@headgate/login';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { presentSession } from './present-session.js';

@Controller('api/ext/sessions')
export class SessionsController {
  constructor(
    private readonly sessions: Sessions,
    private readonly audit: Audit,
    private readonly groups: KnownGroups,
  ) {}

  @Needs(everything('manage', { doing: 'Reading the sessions of all users' }))
  @Get()
  @Describe('The sessions of all users, the last used first.', answerList(200, SessionView))
  list(@CurrentCaller() { session }: Caller): SessionView[] {
    return this.sessions.all().map((one) => presentSession(one, session));
  }

  @Needs(everything('manage'))
  @Delete(':id')
  @Describe(
    'Ends a session of any user, with its streams and consoles, and forgets the groups of the user.',
    answer(200, StatusView),
  )
  async end(
    @Param() { id }: SessionPath,
    @Body() _body: EmptyBody,
    @CurrentCaller() caller: Caller,
  ): Promise<StatusView> {
    const { login } = this.sessions.expect(id);
    // Its tokens and schedules must not keep the rights of groups that the user may have lost.
    const work = async (): Promise<void> => {
      await this.sessions.end(id);
      await this.groups.forget(login);
    };
    await this.audit.of(caller, 'end session', `session/${id}`, work, () => `of ${login}`);
    return { status: 'ended' };
  }
}
