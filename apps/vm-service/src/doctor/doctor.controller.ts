import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { everything } from '@headgate/access';
import { ChangeQuery, CheckView, EmptyBody, FixedView, type PlanView } from '@headgate/api-contracts';
import { CheckBackends, FixBackends } from '@headgate/doctor';
import { PluginChecks, type CheckOfPlugin } from '@headgate/plugins';
import { Needs } from '../platform/needs.decorator.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Readiness } from '../platform/readiness.js';
import { checkRegistryDisk } from '../store/registry-check.js';

@Controller('api/doctor')
export class DoctorController {
  constructor(
    private readonly checkBackends: CheckBackends,
    private readonly fixBackends: FixBackends,
    private readonly pluginChecks: PluginChecks,
    private readonly readiness: Readiness,
  ) {}

  @Needs(everything('read'))
  @Get()
  @Describe(
    'The checks of each backend, of the disk of the registry and of the installed plugins.',
    answerList(200, CheckView),
  )
  async checks(): Promise<CheckView[]> {
    const [ofBackends, ofPlugins] = await Promise.all([this.checkBackends.run(), this.pluginChecks.run()]);
    return [...ofBackends, checkRegistryDisk(this.readiness), ...ofPlugins.map(presentCheck)];
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

/** The check of a plugin is about the machine of the service, which is no context. */
const presentCheck = ({ plugin, ...check }: CheckOfPlugin): CheckView => ({
  ...check,
  context: `plugin/${plugin}`,
  fixable: false,
});
