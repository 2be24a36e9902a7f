import 'reflect-metadata';
import { Body, Controller, Get, Module, Param, Post, Query, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ChangeQuery, InstancePath, PlanView, StatusView, TagDto, TaskView } from '@headgate/api-contracts';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { openapiDocument } from './openapi-document.js';
import { previewApplication } from './preview-application.js';

@Controller('api/things')
class ThingsController {
  @Post(':ns/:name')
  @Describe('Creates a thing.', answer(201, StatusView))
  create(
    @Body() _body: TagDto,
    @CurrentCaller() _caller: object,
    @Param() _path: InstancePath,
    @Query() _query: ChangeQuery,
  ): StatusView {
    return { status: 'ok' };
  }

  @Get('task')
  @Describe('A task.', answer(200, TaskView), answer(200, 'text/event-stream'))
  task(): object {
    return {};
  }
}

@Controller('api/secrets')
class SilentController {
  @Get()
  list(): object {
    return {};
  }
}

interface Document {
  paths: Record<string, unknown>;
  components: { schemas: Record<string, { properties: object; required: string[] }> };
}

const documentOf = async (controller: Type): Promise<Document> => {
  class ThingsModule {}
  Module({ controllers: [controller] })(ThingsModule);
  const app = await NestFactory.create(ThingsModule, new FastifyAdapter(), {
    preview: true,
    abortOnError: false,
    logger: false,
  });
  try {
    return JSON.parse(JSON.stringify(openapiDocument(app, '1'))) as Document;
  } finally {
    await app.close();
  }
};

describe('openapiDocument', () => {
  test('lists the body, the path and the query, and no parameter of our own decorators', async () => {
    const { paths } = await documentOf(ThingsController);
    expect(paths['/api/things/{ns}/{name}']).toMatchObject({
      post: {
        operationId: 'Things.create',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/TagDto' } } },
        },
        parameters: [
          { name: 'ns', in: 'path', required: true, schema: { type: 'string', maxLength: 63 } },
          { name: 'name', in: 'path', required: true },
          { name: 'dryRun', in: 'query', required: false, schema: { type: 'boolean' } },
          { name: 'context', in: 'query', required: false },
          { name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', maxLength: 255 } },
        ],
      },
    });
  });

  test('answers a plan too where a request can be rehearsed, and an error for each failure', async () => {
    const { paths } = await documentOf(ThingsController);
    expect(paths['/api/things/{ns}/{name}']).toMatchObject({
      post: {
        responses: {
          200: { content: { 'application/json': { schema: { $ref: `#/components/schemas/${PlanView.name}` } } } },
          201: { content: { 'application/json': { schema: { $ref: '#/components/schemas/StatusView' } } } },
          '4XX': { content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorView' } } } },
          '5XX': { content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorView' } } } },
        },
      },
    });
  });

  test('derives the schemas from the validators, with nested classes, null and optional fields', async () => {
    const { paths, components } = await documentOf(ThingsController);
    expect(
      Object.keys(
        (paths['/api/things/task'] as { get: { responses: { 200: { content: object } } } }).get.responses[200].content,
      ),
    ).toEqual(['application/json', 'text/event-stream']);
    const { TaskView: task, TaskStepView: step } = components.schemas;
    expect(task?.properties).toMatchObject({
      finishedAt: { type: ['string', 'null'] },
      progress: { type: ['number', 'null'], minimum: 0, maximum: 1 },
      steps: { type: 'array', items: { $ref: '#/components/schemas/TaskStepView' } },
    });
    expect(task?.required).toContain('finishedAt');
    expect(step?.required).toEqual(['name', 'startedAt']);
  });

  test('refuses a route without a description', async () => {
    await expect(documentOf(SilentController)).rejects.toThrow('GET /api/secrets has no description: add @Describe');
  });

  test('describes every route of the service', async () => {
    const app = await previewApplication();
    const { paths, components } = openapiDocument(app, '1');
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(['/api/vms', '/api/vms/{ns}/{name}/{action}', '/healthz']),
    );
    const text = JSON.stringify({ paths, components });
    const names = new Set([...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name));
    expect(Object.keys(components?.schemas ?? {})).toEqual(expect.arrayContaining([...names]));
    await app.close();
  });
});
