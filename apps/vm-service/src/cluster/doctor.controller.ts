import { Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ChangeQuery, type CheckView, type PlanView } from '@headgate/api-contracts';
import { BackendDirectory, Lacking, messageOf, planOf, type Backend } from '@headgate/domain-contracts';
import type { FastifyReply } from 'fastify';
import { answerPlan, isRehearsal } from '../instances/plan-view.js';

@Controller('api/doctor')
export class DoctorController {
  constructor(private readonly backends: BackendDirectory) {}

  @Get()
  async checks(): Promise<CheckView[]> {
    return (await Promise.all(this.backends.all().map(checksOf))).flat();
  }

  @Post('fix')
  @HttpCode(200)
  async fix(
    @Query() query: ChangeQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ fixed: string[] } | PlanView> {
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
