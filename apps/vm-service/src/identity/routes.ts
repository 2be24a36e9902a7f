import 'reflect-metadata';
import { RequestMethod } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import type { Need } from '@headgate/access';
import { needOf } from '../platform/needs.decorator.js';

// The metadata that Nest's decorators write; only some of the names are exported.
const PATH = 'path';
const METHOD = 'method';
const GATEWAY = 'websockets:is_gateway';
const GATEWAY_OPTIONS = 'websockets:gateway_options';

/** A route of a controller, or the socket of a gateway. */
export interface Route {
  /** `GET`, or `SOCKET`. */
  readonly method: string;
  /** With parameters as in `/api/vms/:ns/:name`. */
  readonly path: string;
  /** Such as `VmsController.list`. */
  readonly handler: string;
  readonly need: Need | undefined;
}

type Class = abstract new (...args: never[]) => object;

/**
 * The routes of all controllers and the sockets of all gateways, by their paths. An application in preview mode has
 * them, too.
 */
export function routesOf(modules: ModulesContainer): Route[] {
  const all = [...modules.values()].flatMap(({ controllers, providers }) => [
    ...[...controllers.values()].flatMap(({ metatype }) => (metatype ? routesOfController(metatype as Class) : [])),
    ...[...providers.values()].flatMap(({ metatype }) => (isGateway(metatype) ? socketOf(metatype) : [])),
  ]);
  return all.sort((a, b) => (a.path === b.path ? compare(a.method, b.method) : compare(a.path, b.path)));
}

function routesOfController(controller: Class): Route[] {
  const prefix = textOf(Reflect.getMetadata(PATH, controller));
  return handlersOf(controller).flatMap(([name, handler]) => {
    const method = Reflect.getMetadata(METHOD, handler) as RequestMethod | undefined;
    if (method === undefined) return [];
    const path = join(prefix, textOf(Reflect.getMetadata(PATH, handler)));
    return [{ method: RequestMethod[method], path, handler: `${controller.name}.${name}`, need: needOf(handler) }];
  });
}

function socketOf(gateway: Class): Route {
  const { path } = Reflect.getMetadata(GATEWAY_OPTIONS, gateway) as { path: string };
  const handler = (gateway.prototype as { handleConnection: object }).handleConnection;
  return { method: 'SOCKET', path, handler: `${gateway.name}.handleConnection`, need: needOf(handler) };
}

const isGateway = (metatype: unknown): metatype is Class =>
  typeof metatype === 'function' && Reflect.getMetadata(GATEWAY, metatype) === true;

/** The methods of a class and of the classes that it extends. */
function handlersOf(controller: Class): [name: string, handler: object][] {
  const found = new Map<string, object>();
  for (
    let prototype = controller.prototype as object | null;
    prototype !== null && prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype) as object | null
  ) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
      if (typeof value === 'function' && !found.has(name)) found.set(name, value as object);
  }
  return [...found];
}

/** A decorator with several paths would need a row for each of them. @throws Error */
function textOf(path: unknown): string {
  if (path === undefined) return '';
  if (typeof path === 'string') return path;
  throw new Error('A route has one path.');
}

const join = (...parts: readonly string[]): string =>
  `/${parts
    .flatMap((part) => part.split('/'))
    .filter((part) => part !== '')
    .join('/')}`;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
