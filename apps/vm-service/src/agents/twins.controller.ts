import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { eachMember } from '@headgate/access';
import { TwinDto, TwinRunView } from '@headgate/api-contracts';
import type { Caller } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import { Rehearsals } from '@headgate/rehearsals';
import type { FastifyReply } from 'fastify';
import { answer, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { clientLeft } from '../platform/client-left.js';
import { Needs } from '../platform/needs.decorator.js';
import { AgentActions } from './agent-actions.js';
import { presentRehearsed } from './present-rehearsed.js';
import { presentTwin } from './twin/present-twin.js';
import { Twins } from './twin/twins.js';

/** Changes in simulations. */
@Controller('api/ext/twins')
export class TwinsController {
  constructor(
    private readonly actions: AgentActions,
    private readonly rehearsals: Rehearsals,
    private readonly twins: Twins,
    private readonly fleet: FleetReader,
  ) {}

  // Each instance is judged by the action, as in a bulk action: those who may not change it see no outcome of it.
  @Needs(eachMember)
  @Post()
  @HttpCode(200)
  @Describe(
    'Plans a change, and carries it out in a simulation of its context, into which the objects of the cluster were read. The cluster itself is not changed. Takes up to a minute; 409 while another simulation is in use.',
    answer(200, TwinRunView),
  )
  async run(
    @Body() dto: TwinDto,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TwinRunView> {
    await this.fleet.whenSynced();
    const signal = clientLeft(reply);
    const planned = await this.rehearsals.plan(await this.actions.of(dto, caller), caller);
    const plan = presentRehearsed(planned.plan);
    if (!planned.isCommittable) return { plan };
    return { plan, twin: presentTwin(await this.twins.run({ dto, planned, caller, signal }), caller.grant) };
  }
}
