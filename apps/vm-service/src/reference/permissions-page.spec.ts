import 'reflect-metadata';
import { ModulesContainer } from '@nestjs/core';
import { expectNeeds } from '../identity/expect-needs.js';
import { routesOf } from '../identity/routes.js';
import { permissionsPage } from './permissions-page.js';
import { previewApplication } from './preview-application.js';

describe('the page of permissions', () => {
  let routes: ReturnType<typeof routesOf>;
  const cellsOf = (route: string): string[] => {
    const line = permissionsPage(routes)
      .split('\n')
      .find((one) => one.startsWith(`| \`${route}\` |`));
    return (line ?? '').split(' | ').slice(1);
  };

  beforeAll(async () => {
    const app = await previewApplication();
    routes = routesOf(app.get(ModulesContainer));
    await app.close();
  });

  test('has a row for every route and socket of the service, whose needs let it start', () => {
    expectNeeds(routes);
    const rows = permissionsPage(routes).match(/^\| `(GET|POST|PATCH|DELETE|SOCKET) \/[^`]*` \|/gm) ?? [];
    expect(rows).toEqual(routes.map(({ method, path }) => `| \`${method} ${path}\` |`));
    expect(rows.length).toBeGreaterThan(90);
  });

  test.each([
    ['GET /healthz', '', 'anyone, without an identity', 'yes', 'any', 'none |'],
    ['GET /api/vms', '', 'the instances that the caller may read', 'yes', 'any', 'none |'],
    ['GET /api/nodes', '', 'data of no instance', 'yes', 'any on everything', '`viewer` in any folder |'],
    ['GET /api/vms/:ns/:name', '`read`', 'the VM of the path', 'yes', 'any', '`viewer` |'],
    ['POST /api/vms/:ns/:name/:action', '`power`', 'the VM of the path', 'no', '`power`', '`operator` |'],
    ['DELETE /api/cts/:ns/:name', '`delete`', 'the container of the path', 'no', '`delete`', '`admin` |'],
    [
      'POST /api/vms/:ns/:name/clone',
      '`change`',
      'the VM of the path, and `create` of everything',
      'no',
      '`change` and `create` on everything',
      '`admin` in `/` |',
    ],
    [
      'POST /api/vms/:ns/:name/volumes',
      '`change`',
      'the VM of the path, and with `pvc` `change` of everything',
      'no',
      '`change`',
      '`admin` |',
    ],
    [
      'POST /api/folders/members',
      '`change`',
      'the folder at `path`, and the instance at `ref`',
      'no',
      '`change`',
      '`admin` |',
    ],
    ['GET /api/doctor', '`read`', 'everything', 'yes', 'any on everything', '`viewer` in `/` |'],
    ['GET /api/ext/tokens', '`manage`', 'the service', 'no', 'no', '`admin` in `/` |'],
    ['SOCKET /api/tty/:ns/:name', '`watch`', 'the VM or container of the path', 'yes', '`console`', '`viewer` |'],
  ])('says who may use %s', (route, ...cells) => expect(cellsOf(route)).toEqual(cells));
});
