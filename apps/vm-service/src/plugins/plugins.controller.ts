import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { everything, sharedData } from '@headgate/access';
import {
  ChangeQuery,
  EmptyBody,
  PluginInstalledView,
  PluginPath,
  PluginView,
  StatusView,
  type PlanView,
} from '@headgate/api-contracts';
import { InstallPlugin, ListPlugins, RemovePlugin } from '@headgate/plugins';
import type { FastifyReply } from 'fastify';
import { Needs } from '../platform/needs.decorator.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';

@Controller('api/plugins')
export class PluginsController {
  constructor(
    private readonly listPlugins: ListPlugins,
    private readonly installPlugin: InstallPlugin,
    private readonly removePlugin: RemovePlugin,
  ) {}

  @Needs(sharedData)
  @Get()
  @Describe('The plugins of all stores, and the installed ones.', answerList(200, PluginView, 'svc-partial'))
  async list(@Res({ passthrough: true }) reply: FastifyReply): Promise<PluginView[]> {
    const { plugins, problems } = await this.listPlugins.read();
    if (problems.size > 0) void reply.header('svc-partial', 'true');
    return [...plugins];
  }

  @Needs(everything('manage'))
  @Post(':name/install')
  @Describe('Installs a plugin, or upgrades it.', answer(200, PluginInstalledView))
  @HttpCode(200)
  install(
    @Param() { name }: PluginPath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<PluginInstalledView | PlanView> {
    return request.answer(query, this.installPlugin, [name], () => ({ installed: name }));
  }

  @Needs(everything('manage'))
  @Delete(':name')
  @Describe('Removes an installed plugin.', answer(200, StatusView))
  remove(
    @Param() { name }: PluginPath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.removePlugin, [name], () => ({ status: 'removed' }));
  }
}
