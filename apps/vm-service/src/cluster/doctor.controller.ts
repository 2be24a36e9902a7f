import { Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ChangeQuery, CheckView, FixedView, type PlanView } from '@headgate/api-contracts';
import { BackendDirectory, Lacking, messageOf, planOf, type Backend } from '@headgate/domain-contracts';
import type { FastifyReply } from 'fastify';
import { answerPlan, isRehearsal } from '../instances/plan-view.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';

@Controller('api/doctor')
export class DoctorController {
  constructor(private readonly backends: BackendDirectory) {}

  @Get()
  @Describe('What is wrong with each backend.', answerList(200, CheckView))
  async checks(): Promise<CheckView[]> {
    return (await Promise.all(this.backends.all().map(checksOf))).flat();
  }

  @Post('fix')
  @Describe('Mends what can be mended.', answer(200, FixedView))
  @HttpCode(200)
  async fix(
    @Query() query: ChangeQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<FixedView | PlanView> {
    if (isRehearsal(query)) {
      const fixable = (await this.checks()).filter((check) => check.fixable && check.status !== 'ok');
      return answerPlan(reply, planOf(fixable.map(({ name, remedy }) => ({ name, detail: remedy }))));
    }
    const fixed = await Promise.all(
      this.backends.all().map(async (backend) => {
        const diagnostics = backend.ability('diagnostics');
        return diagnostics instanceof Lacking ? [] : diagnostics.fix();
      }),
    );
    return { fixed: fixed.flat() };
  }
}

async function checksOf(backend: Backend): Promise<CheckView[]> {
  const diagnostics = backend.ability('diagnostics');
  if (diagnostics instanceof Lacking) return [];
  try {
    return (await diagnostics.checks()).map((check) => ({ ...check, context: backend.context }));
  } catch (error) {
    const view = {
      name: 'diagnostics',
      status: 'error',
      message: messageOf(error),
      fixable: false,
      remedy: '',
    } as const;
    return [{ ...view, context: backend.context }];
  }
}
