import 'reflect-metadata';
import { Body, Controller, Post } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { StatusView, TagDto } from '@headgate/api-contracts';
import { answer, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../identity/caller.decorator.js';
import { openapiDocument } from './openapi-document.js';

@Controller('api/things')
class ThingsController {
  @Post()
  @Describe('Makes a thing.', answer(201, StatusView))
  create(@Body() _body: TagDto, @CurrentCaller() _caller: object): StatusView {
    return { status: 'ok' };
  }
}

describe('openapiDocument', () => {
  test("takes a parameter of our own decorators for no part of the wire, whatever Nest's random word for it is", () => {
    const args = Reflect.getMetadata(ROUTE_ARGS_METADATA, ThingsController, 'create') as Record<string, object>;
    // Nest numbers a body 3, and names our decorators by random hexadecimal digits.
    const renamed = Object.entries(args).map(([key, value]) => [key.replace(/^[0-9a-f]+__/, '3f__'), value]);
    Reflect.defineMetadata(ROUTE_ARGS_METADATA, Object.fromEntries(renamed), ThingsController, 'create');
    const { paths } = openapiDocument([ThingsController], '1') as { paths: Record<string, { post: object }> };
    expect(paths['/api/things']?.post).toMatchObject({
      requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/TagDto' } } } },
    });
  });
});
