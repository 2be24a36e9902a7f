import 'reflect-metadata';
import { anyCaller, anyone, everything, ownObjects, vm, vmOrCt, type Need } from '@headgate/access';
import { Controller, Get, Module, Post, type Type } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { WebSocketGateway } from '@nestjs/websockets';
import { VmsController } from '../instances/vms.controller.js';
import { Edge } from '../testing/edge.js';
import { expectNeeds } from './expect-needs.js';
import { Needs, needOf } from '../platform/needs.decorator.js';
import { routesOf, type Route } from './routes.js';

@Controller('api/things/:ns/:name')
class ThingsController {
  @Needs(vm('read'))
  @Get()
  one(): void {}

  @Post('/polish')
  polish(): void {}

  helper(): void {}
}

class Base {
  @Get('inherited')
  inherited(): void {}
}

@Controller()
class DerivedController extends Base {}

@WebSocketGateway({ path: '/api/wire/:ns/:name' })
class WireGateway {
  handleConnection(): void {}
}

async function routesIn(...classes: Type[]): Promise<Route[]> {
  const isController = (one: Type): boolean => one !== WireGateway;
  @Module({ controllers: classes.filter(isController), providers: classes.filter((one) => !isController(one)) })
  class TestModule {}
  const app = await NestFactory.createApplicationContext(TestModule, { logger: false, preview: true });
  const routes = routesOf(app.get(ModulesContainer));
  await app.close();
  return routes;
}

const route = (method: string, path: string, need: unknown): Route => ({
  method,
  path,
  handler: 'Things.touch',
  need: need as Need,
});

describe('the needs of routes', () => {
  test('are found with the routes of controllers, also inherited ones, and of gateways', async () => {
    expect(await routesIn(ThingsController, DerivedController, WireGateway)).toEqual([
      { method: 'GET', path: '/api/things/:ns/:name', handler: 'ThingsController.one', need: vm('read') },
      { method: 'POST', path: '/api/things/:ns/:name/polish', handler: 'ThingsController.polish', need: undefined },
      { method: 'SOCKET', path: '/api/wire/:ns/:name', handler: 'WireGateway.handleConnection', need: undefined },
      { method: 'GET', path: '/inherited', handler: 'DerivedController.inherited', need: undefined },
    ]);
  });

  test.each<[string, Type, string]>([
    ['route', ThingsController, 'POST /api/things/:ns/:name/polish of ThingsController.polish'],
    ['inherited route', DerivedController, 'GET /inherited of DerivedController.inherited'],
    ['socket', WireGateway, 'SOCKET /api/wire/:ns/:name of WireGateway.handleConnection'],
  ])('are missed by a %s without one, in one sentence', async (_kind, type, name) => {
    const routes = await routesIn(type);
    expect(() => expectNeeds(routes)).toThrow(`${name}: it states no need; add @Needs next to @Describe`);
  });

  test.each<[string, Route, string]>([
    ['of nothing known', route('GET', '/x', { of: 'planet' }), 'there is no need of "planet"'],
    ['for an unknown action', route('GET', '/x', { of: 'all', action: 'fly' }), 'there is no action "fly"'],
    [
      'of an instance that the path does not name',
      route('GET', '/x/:name', vm('read')),
      'names none with :ns and :name',
    ],
    ['of an instance of any kind', route('GET', '/x/:ns/:name', vmOrCt('read')), 'use vm or ct'],
    ['that lets readers change something', route('POST', '/x/:ns/:name', vm('read')), 'allows it to every reader'],
    ['that lets every caller change something', route('DELETE', '/x', anyCaller), 'allows it to every reader'],
    ['that lets anyone change something', route('PUT', '/x', anyone), 'allows it to every reader'],
    ['that lets readers change everything', route('PATCH', '/x', everything('read')), 'allows it to every reader'],
  ])('are refused if they are %s', (_name, one, fault) => {
    expect(() => expectNeeds([route('GET', '/y', anyCaller), one])).toThrow(fault);
  });

  test('may be objects of the caller, which also readers change', () => {
    expect(() => expectNeeds([route('DELETE', '/x', ownObjects)])).not.toThrow();
  });

  test('are checked before the service starts', async () => {
    const { list } = VmsController.prototype;
    const need = needOf(list);
    const edge = new Edge();
    Reflect.deleteMetadata('headgate:need', list);
    try {
      await expect(edge.open()).rejects.toThrow('GET /api/vms of VmsController.list: it states no need');
    } finally {
      Reflect.defineMetadata('headgate:need', need, list);
    }
    await edge.open();
    expect((await edge.send('GET', '/api/vms')).status).toBe(200);
    await edge.close();
  });
});
